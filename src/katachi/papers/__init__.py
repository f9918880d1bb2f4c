"""Experiments: published results remade by a command, and what our own parts are worth."""
