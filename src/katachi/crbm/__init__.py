"""CRBM features: Largman and Pham."""
