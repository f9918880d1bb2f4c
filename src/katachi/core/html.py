"""The frame of a page that needs nothing else: its style inline, its title escaped, fit for small screens."""

from __future__ import annotations

from html import escape


def frame_page(title: str, style: str, body: str) -> str:
    """A whole page from its body, which is HTML already."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{style}</style>
</head>
<body>
<h1>{escape(title)}</h1>
{body}
</body>
</html>
"""
