"""A game or a position explained: moves, territory, the shapes that fired."""
