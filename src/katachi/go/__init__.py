"""The game itself: points, rules, boards, games, scoring, ladders and playouts. Imports nothing else of katachi."""
