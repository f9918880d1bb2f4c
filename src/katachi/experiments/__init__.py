"""Experiments: published results remade by a command, ours beside theirs."""
