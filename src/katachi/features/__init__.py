"""Features: numbered properties of a board, for linear values and for people to look at."""
