"""Figures 3, 5 and 6: the number of shapes, the final agents rated on 9×9, and their largest weights.

Ratings need a player whose rating is known on both sides: the average liberty player, 850 on CGOS. The random player,
at −170, would be a poor one: whoever loses all games has a rating of which only an upper bound is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from katachi.arena.ratings import Anchor
from katachi.arena.records import pairings
from katachi.arena.settings import LimitSettings, Scheme, TournamentSettings
from katachi.core.disk import write_atomically
from katachi.core.drawing import Cell, LearnedSet, LearnedShape, Shape, draw_figure
from katachi.core.linear import LinearModel, load_linear
from katachi.core.models import find_model
from katachi.features.windows import PAPER_SIZES
from katachi.papers.documents import format_estimate, format_value, table
from katachi.papers.experiment import Better, Budget, Json, Row, Scope, Table, scaled
from katachi.papers.silver2007.figure4 import UP_TO_3X3, cuts, makes_two_eyes, matches
from katachi.papers.tournaments import Pair, games_of, gnugo, gnugo_name, has_gnugo, play_tournaments, rate_games
from katachi.shapes.drawing import largest_shapes
from katachi.shapes.sets import Location, ShapeSet

# Figure 3: how many shapes are active and how many weights there are, for each set on 5×5.

_SIZE: Final = 5
_LARGER: Final = 9  # the board of the final agents
_BINS: Final = "h"

# The paper's figures: the size, n, and N for location independent and dependent sets; h is a number of bins.
PUBLISHED: Final[dict[tuple[int, int], tuple[int, int | str, int | str]]] = {
    (1, 1): (25, 3, 27),
    (2, 1): (40, 9, 54),
    (2, 2): (16, 81, 324),
    (3, 2): (24, 729, 2_916),
    (3, 3): (9, 19_683, 78_732),
    (4, 3): (12, _BINS, _BINS),
    (4, 4): (4, _BINS, _BINS),
    (5, 4): (4, _BINS, _BINS),
    (5, 5): (1, _BINS, _BINS),
}


class Figure3(Table):
    name = "figure3"
    title = "Figure 3: the number of shapes on 5×5"
    hours = dict.fromkeys(Budget, 0.0)

    def measure(self, scope: Scope) -> Json:  # noqa: ARG002 — counting takes no budget
        """Count everything."""
        sets = (ShapeSet(*size, location) for location in Location for size in PAPER_SIZES)
        return {"sets": {shape_set.name: self._count(shape_set) for shape_set in sets}}

    def _count(self, shape_set: ShapeSet) -> Json:
        return {
            "active": shape_set.active_count(_SIZE),
            "allocated": _BINS if shape_set.is_hashed else shape_set.allocated(_SIZE),
            "distinct": {str(size): shape_set.distinct(size) for size in (_SIZE, _LARGER)},
            "distinct up to inversion": {str(size): shape_set.distinct(size, tied=True) for size in (_SIZE, _LARGER)},
        }

    def rows(self, results: Json) -> Iterator[Row]:
        """The paper's numbers first, then the weights that are left when all symmetries are used."""
        yield from self._published_rows(results)
        for name, counts in results["sets"].items():
            for size, found in counts["distinct"].items():
                words = f"{name.replace('x', '×')}: distinct weights on {size}×{size}"
                yield Row(f"{self.name}/{name.replace(' ', '-')}/distinct-{size}", words, None, found, None)

    def _published_rows(self, results: Json) -> Iterator[Row]:
        for (width, height), (active, *allocated) in PUBLISHED.items():
            size = f"{width}x{height}"
            words = size.replace("x", "×")
            found = results["sets"][f"LI {size}"]["active"]
            yield Row(f"{self.name}/{size}/n", f"{words}: active shapes n", active, found, None)
            for location, published in zip(Location, allocated, strict=True):
                own = results["sets"][f"{location.value} {size}"]["allocated"]
                name = f"{location.value} {words}"
                yield Row(f"{self.name}/{location.value}-{size}/N", f"{name}: weights N", published, own, None)

    def section(self, results: Json) -> str:
        """The table, with the distinct weights beside it."""
        published = list(self._published_rows(results))
        equal = sum(row.published == row.ours for row in published)
        header = ("set", "n", "N", "distinct, 5×5", "distinct, 9×9", "and inverses tied, 9×9")
        lines = [
            (
                name.replace("x", "×"),
                format_value(counts["active"]),
                format_value(counts["allocated"]),
                *(format_value(count) for count in counts["distinct"].values()),
                format_value(counts["distinct up to inversion"][str(_LARGER)]),
            )
            for name, counts in results["sets"].items()
        ]
        return f"""
Of the paper's {len(published)} counts {equal} are ours. N counts the entries of the tables, where a set of
shapes is folded by the two mirror axes of the board; h is a number of bins, 100,000. Fewer weights are *distinct*: the
diagonals fold the board once more, and many shapes are their own mirror images. The last column is how many there would
be if a shape and its color inverse shared one.

{table(header, lines)}
"""


# Figure 5: the paper's ratings are those of CGOS, ours come from tournaments of the same kinds of players.

SIZE: Final = 9
ANCHOR: Final = Anchor("ALP", 850)
_SMOKE_SECONDS: Final = 0.02  # a move


@dataclass(frozen=True, slots=True)
class Contestant:
    """A player, what the paper calls it, and what it was rated on CGOS; GNU Go is ours."""

    spec: str
    published: int | None = None


# ALP loses all games to the learned players, which says little of how far apart they are. These stand between: they
# play a random move now and then, so that neighbors beat each other.
BRIDGE: Final = {
    f"Linear-B, {percent} % random": Contestant(f"shapes-9 search.epsilon={percent / 100}") for percent in (30, 20, 10)
}
CONTESTANTS: Final = {
    "random": Contestant("random", -170),
    "influence": Contestant("influence", 700),
    ANCHOR.player: Contestant("alp", 850),
    "Linear-B": Contestant("shapes-9", 1070),
    "Linear-L": Contestant("shapes-liberties-9", 1140),
    "Linear-S": Contestant("shapes-alphabeta-9", 1210),
    gnugo_name(0): Contestant(gnugo(0)),
    gnugo_name(10): Contestant(gnugo(10)),
    **BRIDGE,
}


@dataclass(frozen=True, slots=True)
class Group:
    """A tournament and how many games of each pair a budget allows.

    In a gauntlet the first plays all others, in a ladder each the two that follow.
    """

    scheme: Scheme
    players: tuple[str, ...]
    games: dict[Budget, int]


GROUPS: Final = {
    "fast": Group(
        "round-robin",
        ("random", "influence", ANCHOR.player, "Linear-B", "Linear-L", "GNU Go level 0"),
        {Budget.SMOKE: 2, Budget.HOUR: 60, Budget.FULL: 400},
    ),
    "bridge": Group(
        "ladder",
        (ANCHOR.player, *BRIDGE, "Linear-B"),
        {Budget.SMOKE: 2, Budget.HOUR: 60, Budget.FULL: 200},
    ),
    "gnugo-10": Group(
        "gauntlet",
        ("GNU Go level 10", ANCHOR.player, "Linear-B", "Linear-L", "GNU Go level 0"),
        {Budget.SMOKE: 0, Budget.HOUR: 10, Budget.FULL: 40},
    ),
    "alphabeta": Group(
        "gauntlet",
        ("Linear-S", "Linear-B", "GNU Go level 0"),  # a game takes minutes: the two that say most
        {Budget.SMOKE: 2, Budget.HOUR: 6, Budget.FULL: 50},
    ),
}


class Figure5(Table):
    name = "figure5"
    title = "Figure 5: ratings on 9×9"
    hours = scaled(GROUPS["alphabeta"].games)  # which take the most

    def measure(self, scope: Scope) -> Json:
        """Play the tournaments, or what is left of them, and rate all players by all games.

        Without GNU Go the others play all the same. ``--runs`` is the number of games of each pair with alpha-beta.
        """
        tournaments = dict(self._tournaments(scope))
        records = play_tournaments(tournaments, scope.folder, scope.watch)
        return {"games": len(records)} | rate_games(list(CONTESTANTS), records, ANCHOR)

    def _tournaments(self, scope: Scope) -> Iterator[tuple[str, TournamentSettings]]:
        for name, group in GROUPS.items():
            games = scope.runs if scope.runs and name == "alphabeta" else group.games[scope.budget]
            players = {
                player: CONTESTANTS[player].spec for player in group.players if self._is_here(player, scope.budget)
            }
            if games and group.players[0] in players:
                yield f"{name}-{games}", self._settings(players, group.scheme, games, scope)

    def _is_here(self, player: str, budget: Budget) -> bool:
        """GNU Go may not be installed, and its level 10 takes longer than a smoke test may."""
        if not player.startswith("GNU Go"):
            return True
        return has_gnugo() and not (budget is Budget.SMOKE and player.endswith("10"))

    def _settings(self, players: dict[str, str], scheme: Scheme, games: int, scope: Scope) -> TournamentSettings:
        seconds = _SMOKE_SECONDS if scope.budget is Budget.SMOKE else None
        return TournamentSettings(
            players=players,
            scheme=scheme,
            games=games,
            size=SIZE,
            jobs=scope.workers.jobs,
            limit=LimitSettings(seconds=seconds),
        )

    def rows(self, results: Json) -> Iterator[Row]:
        """The rating of every player; None for those who did not play."""
        for name, contestant in CONTESTANTS.items():
            rating, low, high = results["ratings"].get(name, (None, None, None))
            is_given, is_ours = name == ANCHOR.player, contestant.spec.startswith("shapes")
            yield Row(
                f"{self.name}/{name.replace(' ', '-')}",
                f"{name}: Elo",
                None if is_given else contestant.published,
                rating,
                (low, high),
                n=games_of(results, name),
                planned=self._planned(results, name),
                better=Better.HIGHER if is_ours else Better.SAME,
            )

    def _planned(self, results: Json, name: str) -> int | None:
        """How many games the budget gives a player."""
        if "budget" not in results:
            return None
        found = 0
        for group in GROUPS.values():
            settings = TournamentSettings(players=dict.fromkeys(group.players, "random"), scheme=group.scheme)
            games = group.games[Budget(results["budget"])]
            found += games * sum(name in (pairing.first, pairing.second) for pairing in pairings(settings))
        return found

    def section(self, results: Json) -> str:
        """How it was played, the ratings, and the score of every pair."""
        return f"""
{results["games"]:,} games on {SIZE}×{SIZE}, each opening of two random moves played with both colors. Linear-B is
our `{CONTESTANTS["Linear-B"].spec}`, Linear-L `{CONTESTANTS["Linear-L"].spec}`, Linear-S
`{CONTESTANTS["Linear-S"].spec}`. Ratings are Bradley–Terry's with {ANCHOR.player} at {ANCHOR.rating:g}, where it
stood on CGOS; the interval is that of 95 % from resampling games. A rating needs wins that lead from a player to
{ANCHOR.player} and others that lead back; where one side won everything the games carry a bound (95 %) and no rating.
{self._bridge(results)}

{self._rating_table(results)}

{self._pair_table(results)}
"""

    def _bridge(self, results: Json) -> str:
        """Whether the players between have played."""
        if any(name in results["ratings"] for name in BRIDGE):
            return "Those that play a random move now and then join the two ends of the scale."
        return "Players that join the two ends of the scale are defined and have not played yet."

    def _rating_table(self, results: Json) -> str:
        lines = [
            (name, format_value(CONTESTANTS[name].published), format_estimate(rating, bounds))
            for name, (rating, *bounds) in results["ratings"].items()
        ]
        return table(("player", "CGOS, 2006", "ours (95 %)"), lines)

    def _pair_table(self, results: Json) -> str:
        lines = []
        for pair in (Pair(**pair) for pair in results["pairs"]):
            interval = " … ".join(f"{bound:.0f}" for bound in pair.won.interval or ())
            lines.append((f"{pair.first} – {pair.second}", str(pair.games), f"{pair.won.mean:.1f}", interval))
        return table(("pair", "games", "the first won, %", "95 %"), lines)


# Figure 6: the ten shapes of largest weight in each set of the basic agent, and what the paper reads in them.

MODEL: Final = "shapes-9"
PER_SET: Final = 10


# Weights that the paper speaks of: the set, and the stones with those of the corner first. 1 is who has just moved.
_SPOKEN_OF: Final = {
    "a stone in the corner": ("LD 2x1", (1, 0)),
    "a stone beside the empty corner": ("LD 2x1", (0, 1)),
    "two connected stones anywhere": ("LI 2x1", (1, 1)),
    "one stone in the corner, 1×1": ("LD 1x1", (1,)),
    "two connected stones in the corner": ("LD 2x1", (1, 1)),
}


_READ: Final = {  # what the paper says of them
    "a stone in the corner": ("corner", "a stone in the corner, LD 2×1", "bad"),
    "a stone beside the empty corner": ("around", "a stone beside the empty corner, LD 2×1", "good"),
    "two connected stones anywhere": ("connected", "two connected stones, LI 2×1", "powerful"),
    "one stone in the corner, 1×1": ("one", "one stone in the corner, LD 1×1", "bad"),
    "two connected stones in the corner": ("two", "two connected stones in the corner, LD 2×1", "twice as bad as one"),
}


class Figure6(Table):
    name = "figure6"
    title = "Figure 6: the largest weights"
    hours = dict.fromkeys(Budget, 0.0)

    def measure(self, scope: Scope) -> Json:  # noqa: ARG002 — reading weights takes no budget
        """The largest weights of the bundled model, and those that the paper speaks of."""
        model, card = load_linear(find_model(MODEL))
        largest = largest_shapes(model.features, model.weights, PER_SET, only=UP_TO_3X3)
        return {
            "model": MODEL,
            "trained on": card.training.games,
            "sets": [self._to_json(learned) for learned in largest],
            "spoken of": {words: self._weight(model, name, stones) for words, (name, stones) in _SPOKEN_OF.items()},
        }

    def _weight(self, model: LinearModel, name: str, stones: Sequence[int]) -> float:
        """The weight of a shape; a shape that never occurred has 0."""
        (learned,) = largest_shapes(model.features, model.weights, model.weights.size, only=(name,))
        found = (one.weight for one in learned.shapes if one.shape is not None and matches(one.shape, stones))
        return round(next(found, 0.0), 5)

    def _to_json(self, learned: LearnedSet) -> Json:
        shapes = [self._shape_to_json(one, one.shape) for one in learned.shapes if one.shape is not None]
        return {"name": learned.name, "shapes": shapes}

    def _shape_to_json(self, learned: LearnedShape, shape: Shape) -> Json:
        return {
            "index": learned.index,
            "weight": round(learned.weight, 5),
            "words": learned.words,
            "width": shape.width,
            "stones": [cell.stone for cell in shape.cells],
            "place": shape.place,
            "board_size": shape.board_size,
        }

    def _from_json(self, learned: Json) -> LearnedSet:
        return LearnedSet(learned["name"], tuple(self._shape_from_json(one) for one in learned["shapes"]))

    def _shape_from_json(self, one: Json) -> LearnedShape:
        cells = tuple(Cell(stone) for stone in one["stones"])
        place = None if one["place"] is None else (one["place"][0], one["place"][1])
        shape = Shape(one["width"], len(cells) // one["width"], cells, one["board_size"], place)
        return LearnedShape(one["index"], one["weight"], one["words"], shape)

    def rows(self, results: Json) -> Iterator[Row]:
        """What the paper reads in its figure, asked of ours."""
        for words, (slug, what, published) in _READ.items():
            weight = results["spoken of"][words]
            holds = {"bad": weight < 0, "good": weight > 0, "powerful": weight > 0}.get(published)
            yield Row(f"{self.name}/{slug}", f"weight of {what}", published, weight, None, holds=holds)
        sets = {one.name: one for one in map(self._from_json, results["sets"])}
        cutting, eyes = self._count(sets["LI 3×2"], cuts), self._count(sets["LD 3×3"], makes_two_eyes)
        what = f"shapes that cut among the {PER_SET} of LI 3×2"
        yield Row(f"{self.name}/cuts", what, "shown", cutting, None, holds=cutting > 0)
        what = f"shapes with two eyes in the corner among the {PER_SET} of LD 3×3"
        yield Row(f"{self.name}/eyes", what, 3, eyes, None)

    def _count(self, learned: LearnedSet, question: Callable[[Shape], bool]) -> int:
        return sum(one.shape is not None and question(one.shape) for one in learned.shapes)

    def draw(self, results: Json, pictures: Path) -> None:
        """Draw the shapes of all sets."""
        sets = [self._from_json(learned) for learned in results["sets"]]
        pictures.mkdir(parents=True, exist_ok=True)
        title = f"The {PER_SET} largest weights of each set of {results['model']}"
        write_atomically(pictures / "figure6.svg", draw_figure(sets, title) + "\n")

    def section(self, results: Json) -> str:
        """The picture, and how to read it."""
        return f"""
The {PER_SET} shapes with the largest weight of either sign in each set of `{results["model"]}`, which learned from
{results["trained on"]:,} games. Black is who has just moved; a weight is what one occurrence adds to the logit of
Black's chance to win. The sets are redundant, since a large shape contains the small ones, so a weight says what its
shape adds to theirs and not what the shape is worth; the paper settles that with its cascade, and our model learned
without. `katachi show {results["model"]}` draws the same.

![The largest weights of each set](silver2007/figure6.svg)
"""
