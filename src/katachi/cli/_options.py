"""Options that mean the same in several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

# Of games that two players play

BoardSize = Annotated[int, typer.Option(help="The board size.")]
GameCount = Annotated[int, typer.Option(help="How many games to play.")]
Komi = Annotated[float | None, typer.Option(help="The komi; without it, that of the rules.")]
MostMoves = Annotated[int | None, typer.Option(help="Count a game as it stands after so many moves.")]
Referee = Annotated[str, typer.Option(help="Who counts: estimate, count or gtp:COMMAND.")]
RulesName = Annotated[str, typer.Option(help="The rules, by name or as KataGo's JSON.")]
Seconds = Annotated[float | None, typer.Option(help="Seconds that a move may take.")]
Simulations = Annotated[int | None, typer.Option(help="Simulations that a move may take.")]

# Of trainings

Changes = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change any setting; may be repeated.")
]
Resume = Annotated[
    Path | None, typer.Option(metavar="RUN", help="Resume a run, with the settings it was started with.")
]
RunFolder = Annotated[Path | None, typer.Option(help="The folder of the run; the same one resumes.")]
Threads = Annotated[int, typer.Option(help="Threads that learn.", min=1)]
WithTensorBoard = Annotated[bool, typer.Option("--tensorboard", help="Write the metrics for TensorBoard too.")]
Workers = Annotated[int, typer.Option(help="Threads that prepare batches; 0: the one that learns does.")]
