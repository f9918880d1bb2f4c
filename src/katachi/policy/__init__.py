"""Move prediction: Maddison, Huang, Sutskever and Silver 2014."""
