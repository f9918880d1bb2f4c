"""Searches: they look ahead with any evaluator, and know no model."""
