"""Figure 2: what is known of held-out positions as learning goes on, and how often human moves are among the best
m.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from katachi.papers.documents import COLORS, format_rounded, format_value, label_axes, numbered, plot, share, table
from katachi.papers.experiment import Budget, ExperimentError, Json, Row, Scope, Table
from katachi.papers.wu2006.games import DIFFERENCES, LARGE, STRONG, describe_sets, require_sets
from katachi.papers.wu2006.moves import TOP, Question, ask
from katachi.papers.wu2006.nets import PAPERS, is_the_papers, learn
from katachi.papers.wu2006.tables import AMONG_BEST, BEST
from katachi.territory.learner import PHASES
from katachi.territory.territory_measuring import name_phase

ERRORS: Final = "figure2a"
PLACES: Final = "figure2b"
PHASES_ASKED: Final = (20, 50, 80, 120, 180)  # the first of four moves of each game that are asked about
MOVES: Final = {Budget.SMOKE: 10, Budget.HOUR: 120, Budget.FULL: 2000}  # of each phase
SHOWN: Final = (1, 5, 10, 20, 30, 40)
_MIDDLE: Final = 80
PUBLISHED: Final = {(_MIDDLE, BEST): 100 * AMONG_BEST}  # percent among so many, from that move on


# Figure 2a: the validation error


def measure_errors(scope: Scope) -> Json:
    """Learn both networks; their runs keep what was known meanwhile."""
    sets = require_sets(scope)
    nets = [learn("paper", sets, scope), learn("strong", sets, scope)]
    return {"data": sets.describe(), "nets": [net.to_json() | {"lines": list(net.lines)} for net in nets]}


def error_rows(results: Json) -> list[Row]:
    """The error of each phase after the first measurement and after the last."""
    return [row for net in results["nets"] for row in _error_rows(net)]


def _error_rows(net: Json) -> Iterator[Row]:
    for when, line in (("first", net["lines"][0]), ("last", net["lines"][-1])):
        for phase in _phases(net):
            what = f"{net['title']} after {line['epochs']:.2g} epochs: error, boards {name_phase(phase)}"
            found = round(line[f"validation_loss_{phase}"], 2)
            yield Row(f"{ERRORS}/{net['title']}/{when}/{phase}", what, None, found, None, f"wu2006/{ERRORS}")


def _phases(net: Json) -> list[int]:
    return [phase for phase in range(len(PHASES) + 1) if f"validation_loss_{phase}" in net["lines"][-1]]


def error_section(results: Json, pictures: Path) -> str:
    """The curves, and the errors of the paper's network in a table."""
    with plot(pictures / f"{ERRORS}.svg", columns=2) as panels:
        for axes, net in zip(panels, results["nets"], strict=True):
            _draw_errors(axes, net)
    paper = results["nets"][0]
    header = ("epochs", *(name_phase(phase) for phase in _phases(paper)), "points known, %")
    return f"""
{describe_sets(results["data"])} The error is the relative entropy of targets and outputs, summed over the points of a
board, on validation games, by how full the board is. The paper draws it after 1, 2, 33 and 38 epochs without figures
and says that it falls fast in the first epochs, then slowly, and is smaller late in the game. An epoch is as many
positions as the games have.

![Validation error by phase](wu2006/{ERRORS}.svg)

The paper's network:

{table(header, (_error_line(line, _phases(paper)) for line in paper["lines"]))}

Differences from the paper:

{numbered(DIFFERENCES)}
"""


def _error_line(line: Json, phases: list[int]) -> tuple[str, ...]:
    errors = (f"{line[f'validation_loss_{phase}']:.2f}" for phase in phases)
    return f"{line['epochs']:.3g}", *errors, f"{100 * line['validation_right']:.1f}"


def _draw_errors(axes: Any, net: Json) -> None:
    for phase, color in zip(_phases(net), COLORS, strict=False):
        errors = [line[f"validation_loss_{phase}"] for line in net["lines"]]
        axes.plot([line["epochs"] for line in net["lines"]], errors, color=color, label=name_phase(phase))
    axes.set_ylim(0)
    label_axes(axes, f"Validation error, {net['title']}", "epochs", "nats a position")


# Figure 2b: places of human moves


def measure_places(scope: Scope) -> Json:
    """Learn all networks on the small board, and ask them about moves on 19×19; ``--runs`` is the moves of a phase."""
    sets = require_sets(scope)
    games = sets.of_size(LARGE)
    if games is None:
        raise ExperimentError(f"this figure asks about {LARGE}×{LARGE} games: give such a set by --data, too")
    strong = learn("strong", sets, scope)
    nets = [*(learn(kind, sets, scope) for kind in PAPERS), strong, strong.judging_by_policy()]
    count = scope.runs or MOVES[scope.budget]
    results: Json = {"data": sets.describe(), "asked of": games.path.name, "nets": []}
    for net in nets:
        questions = {first: Question(LARGE, first, first + 3) for first in PHASES_ASKED}
        asked = {str(first): ask(net, question, games, count, scope) for first, question in questions.items()}
        results["nets"].append(net.to_json() | {"asked": asked})
        scope.keep(results)
    return results


def place_rows(results: Json) -> list[Row]:
    """How many of the moves are among the best m, by phase."""
    return [
        _place_row(net, first, top)
        for net in results["nets"]
        for first in net["asked"]
        for top in SHOWN
        if top in (1, 10, 30)
    ]


def _place_row(net: Json, first: str, top: int) -> Row:
    asked = net["asked"][first]
    found = share(asked["top"][top - 1], asked["moves"])
    published = PUBLISHED.get((int(first), top)) if is_the_papers(net) else None
    what = f"{net['title']}: moves {first} to {int(first) + 3} among the {top} best, %"
    name = f"{PLACES}/{net['title']}/{first}/top-{top}"
    return Row(name, what, published, round(found.mean, 1), found.interval, f"wu2006/{PLACES}")


def place_section(results: Json, pictures: Path) -> str:
    """The curves, and tables of their points."""
    with plot(pictures / f"{PLACES}.svg", columns=len(results["nets"])) as panels:
        for axes, net in zip(panels, results["nets"], strict=True):
            _draw_places(axes, net)
    header = ("moves", "asked", *(f"top-{top}, %" for top in SHOWN), "top-30 at random, %")
    tables = "\n".join(
        f"The network `{net['title']}`:\n\n{table(header, (_place_line(net, first) for first in net['asked']))}"
        for net in results["nets"]
    )
    return f"""
{describe_sets(results["data"])} They are asked about moves of even {LARGE}×{LARGE} test games of
`{results["asked of"]}`, of players of {STRONG} and better where ranks are known: four moves of each game, in several
phases. All legal points are ranked by the area that a move there promises, or by the network's own policy. The paper
says that with 80 stones on the board half of the moves of professionals are among the best 30.

![Moves among the best m](wu2006/{PLACES}.svg)

{tables}

Differences from the paper:

{numbered(DIFFERENCES)}
"""


def _place_line(net: Json, first: str) -> tuple[str, ...]:
    asked = net["asked"][first]
    shares = (format_rounded(share(asked["top"][top - 1], asked["moves"])) for top in SHOWN)
    return f"{first}–{int(first) + 3}", format_value(asked["moves"]), *shares, f"{100 * asked['random_top'][29]:.0f}"


def _draw_places(axes: Any, net: Json) -> None:
    for (first, asked), color in zip(net["asked"].items(), COLORS[1:], strict=False):
        shares = [100 * hits / asked["moves"] for hits in asked["top"]]
        axes.plot(range(1, TOP + 1), shares, color=color, label=f"moves {first} to {int(first) + 3}")
    first, asked = min(net["asked"].items(), key=lambda item: abs(int(item[0]) - _MIDDLE))
    by_chance = [100 * value for value in asked["random_top"]]
    axes.plot(range(1, TOP + 1), by_chance, color=COLORS[0], linestyle=":", label=f"moves {first} …, at random")
    if is_the_papers(net):
        axes.plot(BEST, PUBLISHED[_MIDDLE, BEST], "o", color=COLORS[0], label="published, 80 stones")
    axes.set_ylim(0, 100)
    label_axes(axes, f"Among the best m, {net['title']}", "m", "%")


ERROR_TABLE: Final = Table(
    ERRORS, "Figure 2a: the error as learning goes on", measure_errors, error_rows, error_section
)
PLACE_TABLE: Final = Table(PLACES, "Figure 2b: human moves among the best m", measure_places, place_rows, place_section)
