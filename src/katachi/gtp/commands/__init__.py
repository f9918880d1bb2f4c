"""The commands, by concept; every file has a ``table`` of its own, and ``engine.py`` puts them together."""
