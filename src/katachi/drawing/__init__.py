"""What was learned, drawn: for the terminal, as SVG and as a page. Knows models, and nothing of how they came about."""
