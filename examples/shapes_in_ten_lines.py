"""Local shapes in ten lines: learn 5×5 Go from nothing by self-play, look at the curve and the shapes, and play.

After Silver, Sutton and Müller (2007). Every point of the curve is the win rate against ``alp``, which plays where
its chains have the most liberties.

Run it with: python examples/shapes_in_ten_lines.py [GAMES]       (about ten seconds)
"""

from __future__ import annotations

import sys

from katachi import Mcts, play_match, train_shapes

games = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000

model, curve = train_shapes(size=5, games=games, seed=1, evaluate_every=max(1, games // 10))
for played, win_rate in curve:
    print(f"{played:6} games {win_rate:6.1%} {'█' * round(40 * win_rate)}")
best = abs(model.weights).argsort()[-3:][::-1].tolist()
for index in best:
    print(f"\n{model.weights[index]:+.2f} for whoever has just made it, X\n{model.features.describe(index)}")
learned = Mcts(model, simulations=100, seed=1, name="learned shapes in a tree")
print(play_match(learned, "alp", games=10, size=5))
