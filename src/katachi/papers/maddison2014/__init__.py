"""Maddison, Huang, Sutskever and Silver 2014: a deep network foretells the moves of people, and plays by it."""
