"""Learned models that judge boards, and how they are kept on disk."""
