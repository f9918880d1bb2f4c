"""Local shapes: Silver, Sutton and Müller 2007."""
