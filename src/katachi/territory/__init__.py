"""Territory: Wu and Baldi 2006."""
