"""The review of a game: made in the background, kept on disk as far as it is, and shown on the board.

It is the review of ``analysis/batches.py``: a network values every position, so that the graph is there within seconds;
then they are searched, those first where most happens.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from nicegui import ui
from nicegui.element import Element
from nicegui.events import GenericEventArguments
from pydantic import ValidationError

from katachi.analysis import words
from katachi.analysis.batches import ReviewStep
from katachi.analysis.judges import count_turns
from katachi.analysis.records import (
    LEAST_MISTAKE,
    CandidateRecord,
    GameRecord,
    MoveRecord,
    PositionRecord,
    find_mistakes,
)
from katachi.core.cards import Strict
from katachi.go.points import BLACK, EMPTY, PASS, WHITE, parse_vertex
from katachi.sgf import Node, SgfGame, format_sgf
from katachi.web import texts
from katachi.web.engines import EngineError, ReviewJob
from katachi.web.table import Opponent, Phase, Picture, Spot, Table
from katachi.web.widgets import heading, icon_button, mark_chosen, quiet_button, section

if TYPE_CHECKING:
    from katachi.web.sessions import Session

# A review, and what is kept of it

_SETTING: Final = ("B", "W", "AB", "AW", "AE", "PL")  # what of a node makes a position


class SavedReview(Strict):
    """A review on disk; ``game`` is there once it is complete."""

    analyst: str
    line: tuple[str, ...]
    positions: tuple[PositionRecord, ...]
    game: GameRecord | None = None


def line_of(record: SgfGame) -> tuple[str, ...]:
    """What makes the positions of the main line, a text for each node: a review is of these."""
    return tuple(
        " ".join(f"{name}{','.join(values)}" for name, values in node.properties.items() if name in _SETTING)
        for node in record.main_line()
    )


@dataclass(eq=False)
class Review:
    """The review of a game as far as it is: records by turn, from the first on."""

    analyst: str
    line: tuple[str, ...]
    turns: int
    positions: list[PositionRecord] = field(default_factory=list)
    game: GameRecord | None = None
    seconds_left: float | None = None

    @property
    def searched(self) -> int:
        """How many positions had more than a first look."""
        return sum(not one.is_first_look for one in self.positions)

    @property
    def share(self) -> float:
        """How much of the work is done."""
        return (len(self.positions) + 9 * self.searched) / (10 * max(1, self.turns))

    def take(self, changed: Iterable[PositionRecord]) -> None:
        """Add what was found, in the place of what was known."""
        for one in sorted(changed, key=lambda one: one.turn):
            self.positions[one.turn : one.turn + 1] = [one]

    def mistakes(self) -> list[int]:
        """The turns after the mistakes, in their order."""
        numbers = {move.number for move in find_mistakes(self.positions)}
        return [turn for turn, one in enumerate(self.positions) if one.move is not None and one.move.number in numbers]

    def to_json(self) -> str:
        positions = tuple(self.positions)
        return SavedReview(analyst=self.analyst, line=self.line, positions=positions, game=self.game).model_dump_json()

    @classmethod
    def of_json(cls, text: str, record: SgfGame) -> Review | None:
        """A review from disk; None if it cannot be read, or is of another game."""
        try:
            saved = SavedReview.model_validate_json(text)
        except ValidationError:
            return None
        review = cls(saved.analyst, saved.line, count_turns(record), list(saved.positions), saved.game)
        return review if review.fits(record) else None

    def fits(self, record: SgfGame) -> bool:
        """Whether the game still begins with the moves that are reviewed."""
        return line_of(record)[: len(self.line)] == self.line


# A review while it is made: not by a page, but by the table, whoever looks

_SECONDS_BETWEEN_SAVES: Final = 4.0


class Reviewing:
    """The review of a session's game."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._task: asyncio.Task[None] | None = None
        self._saved = 0.0
        self._writing = asyncio.Lock()
        self._saves: set[asyncio.Task[None]] = set()
        self._is_saved = False  # to the end
        self.notice = ""
        self.review: Review | None = None
        text = session.application.store.load_review(session.user, session.name)
        if text is not None:
            self.review = Review.of_json(text, session.table.opened.record)

    @property
    def is_running(self) -> bool:
        return self._task is not None

    def begin(self, opponent: Opponent) -> None:
        """Review the game from its beginning; another review of it is replaced."""
        record = self._session.table.opened.record
        self.close()
        self.review = Review(opponent.name, line_of(record), count_turns(record))
        self._start(opponent)

    def resume(self) -> None:
        """Continue a review that was interrupted."""
        opponent = None if self.review is None else self._session.application.opponents.get(self.review.analyst)
        if opponent is not None and self._task is None:
            self._start(opponent)

    def _start(self, opponent: Opponent) -> None:
        self.notice = ""
        self._is_saved = False
        self._task = asyncio.create_task(self._run(opponent))

    async def _run(self, opponent: Opponent) -> None:
        review = self.review
        assert review is not None
        record = format_sgf(self._session.table.opened.record)
        await self._save(is_done=False)
        self._session.notify()  # what is shown to have started is resumed after a power cut
        try:
            job = ReviewJob(opponent.spec, record, tuple(review.positions))
            review.game = await self._session.application.engines.run(job, self._take)
        except EngineError as error:
            self.notice = texts.PLAYER_FAILED.format(player=opponent.name, reason=error)
        await self._save(is_done=True)
        self._task = None
        self._session.notify()

    def _take(self, step: ReviewStep) -> None:
        if self._task is None or self.review is None:
            return
        self.review.take(step.changed)
        self.review.seconds_left = step.seconds_left
        if time.monotonic() - self._saved > _SECONDS_BETWEEN_SAVES:
            self._keep(is_done=False)
        self._session.notify()

    def _keep(self, *, is_done: bool) -> None:
        task = asyncio.create_task(self._save(is_done=is_done))
        self._saves.add(task)
        task.add_done_callback(self._saves.discard)

    async def _save(self, *, is_done: bool) -> None:
        """Write what there is; one after the other, so that the last is the last."""
        self._saved = time.monotonic()
        await self._session.saved()  # a new table has no folder before
        async with self._writing:
            if self.review is None or self._session.is_deleted or (self._is_saved and not is_done):
                return
            self._is_saved = is_done
            store, session = self._session.application.store, self._session
            try:
                await asyncio.to_thread(store.save_review, session.user, session.name, self.review.to_json(), is_done)
            except OSError as error:
                self.notice = texts.NOT_SAVED.format(reason=error)

    def stop(self) -> None:
        """End the review; what was found stays."""
        self.close()
        self._keep(is_done=True)
        self._session.notify()

    def check(self) -> None:
        """Forget the review if the moves that it is of are not those of the game any more."""
        if self.review is not None and not self.review.fits(self._session.table.opened.record):
            self.close()
            self.review = None
            self._session.application.store.delete_review(self._session.user, self._session.name)

    def close(self) -> None:
        """Leave it as it is on disk, to be resumed."""
        if self._task is not None:
            self._task.cancel()
            self._task = None


# On the board: what could have been played instead of a move, in colors by what each gives away

_GOOD, _FAIR, _DOUBTFUL, _BAD = "#1f7a5c", "#5f7d1e", "#a8640b", "#b3224f"  # on which white can be read
_LEAST_VISITED: Final = 0.1  # of the visits of the most visited move: with fewer a value is mere chance
_MOST_DOTS: Final = 6
_LEAST_PERCENT: Final = 2.0  # of the chance to win, that one candidate gives away compared with another


def show_alternatives(picture: Picture, before: PositionRecord, move: MoveRecord) -> Picture:
    """The board after a move, with the moves that were considered instead; the better one is a stone seen through."""
    notes, over, ghosts = dict(picture.notes), list(picture.over), dict(picture.ghosts)
    labels = dict(picture.labels)
    played, best = _point(move.move, picture.size), _point(move.best, picture.size)
    is_mistake = (move.sure_loss or 0.0) >= LEAST_MISTAKE
    for candidate in list_alternatives(before):
        point = _point(candidate.move, picture.size)
        if point < 0 or picture.stones[point] != EMPTY:
            continue
        lost = Lost.between(before, candidate)
        notes[point] = _describe_candidate(candidate, before)
        if point == best and is_mistake:
            ghosts[point] = BLACK if move.color == "black" else WHITE
        else:
            over.append(Spot(point, lost.color, 0.95, lost.text, "#fdfcf6", radius=12.0))
    if is_mistake and played >= 0:
        labels[played] = Lost.of_move(move).text
    return replace(picture, over=over, notes=notes, ghosts=ghosts, labels=labels)


def list_alternatives(before: PositionRecord) -> list[CandidateRecord]:
    """The candidates that were looked into, the best first."""
    most = max((candidate.visits for candidate in before.candidates), default=0)
    return [one for one in before.candidates if one.visits >= _LEAST_VISITED * most][:_MOST_DOTS]


class Lost(NamedTuple):
    """What a move gives away: points where they are known, else percent of the chance to win."""

    amount: float
    is_points: bool

    @classmethod
    def between(cls, before: PositionRecord, candidate: CandidateRecord) -> Lost:
        """What a candidate gives away, compared with the best one."""
        sign = 1 if before.to_play == "black" else -1
        best = before.candidates[0]
        if best.black_lead is not None and candidate.black_lead is not None:
            return cls(sign * (best.black_lead - candidate.black_lead), True)
        if best.black_wins is not None and candidate.black_wins is not None:
            return cls(100 * sign * (best.black_wins - candidate.black_wins), False)
        return cls(0.0, False)

    @classmethod
    def of_move(cls, move: MoveRecord) -> Lost:
        """What a move that was played gave away."""
        if move.points_lost is not None and move.points_lost >= words.LEAST_POINTS:
            return cls(move.points_lost, True)
        return cls(100 * (move.sure_loss or 0.0), False)

    @property
    def color(self) -> str:
        steps = (words.LEAST_POINTS, 2.5, 5.0) if self.is_points else (_LEAST_PERCENT, 5.0, 15.0)
        return next(
            (color for step, color in zip(steps, (_GOOD, _FAIR, _DOUBTFUL), strict=True) if self.amount < step), _BAD
        )

    @property
    def text(self) -> str:
        """``−6``, or ``−14%``; empty if it is within the error."""
        if self.amount < (words.LEAST_POINTS if self.is_points else _LEAST_PERCENT):
            return ""
        return f"−{self.amount:.0f}" if self.is_points else f"−{self.amount:.0f}%"

    @property
    def words(self) -> str:
        unit = (texts.POINT if round(self.amount) == 1 else texts.POINTS) if self.is_points else texts.PERCENT
        return unit.format(amount=f"{self.amount:.0f}")


def _point(vertex: str | None, size: int) -> int:
    return PASS if vertex is None else parse_vertex(vertex, size)


def _describe_candidate(candidate: CandidateRecord, before: PositionRecord) -> str:
    lost = Lost.between(before, candidate)
    first = f"{candidate.move}: " + (texts.GIVES_AWAY.format(what=lost.words) if lost.text else texts.AS_GOOD_AS_ANY)
    follow = " ".join(candidate.variation[1:_STEPS_SHOWN])
    return "\n".join(filter(None, (first, follow)))


# The graph of a game as an element of a page: win rate and score by turns; a click or a drag goes to a turn.


class GraphElement(Element, component="graph.js"):
    """A graph of as many turns as are analysed, in a frame for all turns of the game."""

    def __init__(self, on_turn: Callable[[int], None]) -> None:
        super().__init__()
        self._on_turn = on_turn
        self._analysed = 0
        self._props["label"] = texts.GRAPH
        self._props["legend"] = list(texts.GRAPH_LEGEND)
        self.show((), (), 0, None)
        self.on("turn", self._take)

    def show(self, positions: Sequence[PositionRecord], mistakes: Sequence[int], turns: int, here: int | None) -> None:
        """Draw these positions, and a line where one stands."""
        self._analysed = len(positions)
        self._props["wins"] = [position.black_wins for position in positions]
        self._props["leads"] = [position.black_lead for position in positions]
        self._props["mistakes"] = [turn for turn in mistakes if positions[turn].black_wins is not None]
        self._props["notes"] = [_describe_turn(position) for position in positions]
        self._props["turns"] = max(turns, len(positions))
        self._props["here"] = here
        self.update()

    def _take(self, event: GenericEventArguments) -> None:
        if type(event.args) is int and 0 <= event.args < self._analysed:
            self._on_turn(event.args)


def _describe_turn(position: PositionRecord) -> str:
    move = position.move
    first = "" if move is None else f"{move.number} {move.move}: "
    return first + words.describe_value(position.black_wins, position.black_lead).rstrip(".")


# What follows a move, played on the board step by step

_STEPS_SHOWN: Final = 8


@dataclass
class Continuation:
    """Moves from a position on, and how many of them are on the board; the record stays as it is."""

    node: Node
    moves: tuple[int, ...]
    is_better: bool
    step: int = 1

    def go(self, command: str) -> None:
        """Go on or back; going on at the end changes nothing."""
        steps = {"back": -1, "forward": 1, "first": -len(self.moves), "last": len(self.moves)}
        self.step = max(1, min(len(self.moves), self.step + steps.get(command, 0)))

    def draw(self, table: Table, picture: Picture) -> Picture:
        """The board with these moves, numbered."""
        game = table.opened.record.replay(until=self.node)
        before = len(game.moves)
        for move in self.moves[: self.step]:
            if game.why_illegal(move) is not None:
                break
            game.play(move)
        numbers = {play.move: str(number) for number, play in enumerate(game.moves[before:], 1) if play.move >= 0}
        shown = {point: text for point, text in numbers.items() if game.board[point] != EMPTY}
        plain = replace(picture, marks={}, over=(), ghosts={}, notes={}, ghost=EMPTY)
        return replace(plain, stones=game.board.stones, last=None, labels=shown)


# Beside the board

_CARDS_A_SIDE: Final = 3


class ReviewPanel:
    """Started by its button; then it grows while one looks at something else."""

    def __init__(
        self,
        session: Session,
        analyst: Callable[[], Opponent],
        do: Callable[[Callable[[Table], None]], None],
        refresh: Callable[[], None],
    ) -> None:
        self._session = session
        self._analyst = analyst
        self._do = do
        self._refresh_all = refresh
        self._cards_for: list[MoveRecord] | None = None
        self.continuation: Continuation | None = None
        self._build()

    @property
    def _review(self) -> Review | None:
        return self._session.reviewing.review

    def _build(self) -> None:
        with section(texts.REVIEW_TITLE, "k-card k-stack k-tight k-review") as self._panel:
            with ui.element("div").classes("k-row"):
                heading(texts.REVIEW_TITLE, 2)
                ui.element("div").classes("k-space")
                icon_button("keyboard_arrow_up", texts.MISTAKE_BEFORE, lambda: self.go("mistake-back"))
                quiet_button(texts.NEXT_MISTAKE, lambda: self.go("mistake")).classes("k-chip")
            self._sentence = ui.label().classes("k-plain k-sentence").props("aria-live=polite")
            with ui.element("div").classes("k-row") as self._lines:
                self._played = quiet_button("", lambda: self._switch(is_better=False)).classes("k-chip")
                self._better = quiet_button("", lambda: self._switch(is_better=True)).classes("k-chip")
                with ui.element("div").classes("k-row k-nowrap") as self._steps:
                    icon_button("chevron_left", texts.STEP_BACK, lambda: self.go("back"))
                    self._step = ui.label().classes("k-number")
                    icon_button("chevron_right", texts.STEP_ON, lambda: self.go("forward"))
            with ui.element("div").classes("k-sides"):
                self._sides = {color: ui.element("div").classes("k-stack k-tight") for color in ("black", "white")}
            with ui.element("div").classes("k-stack k-tight") as self._making:
                self._progress = ui.label().classes("k-soft k-small")
                self._bar = ui.linear_progress(show_value=False).props(f'aria-label="{texts.REVIEW}"')
            with ui.expansion(texts.NUMBERS_BEHIND).props("dense").classes("k-small") as self._behind:
                self._numbers = ui.label().classes("k-plain k-small k-words")
                self._models = ui.label().classes("k-plain k-small k-words")
                self._save = ui.link(texts.SAVE_ANALYZED, f"/game/{self._session.name}/analyzed.sgf").props("download")
        with ui.element("div").classes("k-bar"):
            self._begin_button = quiet_button(texts.REVIEW, self.begin, icon="insights")
            self._stop_button = quiet_button(texts.STOP_REVIEW, lambda: self._session.reviewing.stop())

    def build_graph(self) -> None:
        """The graph, wherever the page wants it."""
        self._graph = GraphElement(self._go_to_turn)

    # What is done

    def begin(self) -> None:
        """Review the game, again if it is reviewed."""
        self.continuation = None
        self._session.reviewing.begin(self._analyst())

    def go(self, command: str) -> bool:
        """Whether a key or a button is for the review: the next mistake, or a step of a continuation."""
        if command in ("mistake", "mistake-back"):
            self._go_to_mistake(1 if command == "mistake" else -1)
            return True
        if self.continuation is None:
            return False
        if command in ("back", "forward", "first", "last"):
            self.continuation.go(command)
            self._refresh_all()
            return True
        self.leave_line()
        return command == "leave"

    def leave_line(self) -> None:
        """Show the game again."""
        if self.continuation is not None:
            self.continuation = None
            self._refresh_all()

    def _go_to_mistake(self, direction: int) -> None:
        review = self._review
        turns = [] if review is None else review.mistakes()
        if not turns:
            ui.notify(texts.NO_MISTAKES if self._review else texts.NO_REVIEW, position="top", timeout=2500)
            return
        here = self._place()
        ahead = [turn for turn in turns if (turn - here) * direction > 0]
        self._go_to_turn((ahead or turns)[0 if direction > 0 else -1])

    def _place(self) -> int:
        """The turn that one is at; off the main line the one where it was left."""
        review, node = self._review, self._session.table.opened.node
        nodes = list(self._session.table.opened.record.main_line())
        path = [one for one in node.path() if one in nodes]
        number = nodes.index(path[-1]) if path else 0
        turns = [turn for turn, one in enumerate(review.positions if review else ()) if one.node <= number]
        return turns[-1] if turns else 0

    def _go_to_turn(self, turn: int) -> None:
        review = self._review
        if review is None or turn >= len(review.positions):
            return
        self.continuation = None
        nodes = list(self._session.table.opened.record.main_line())
        number = review.positions[turn].node
        if number < len(nodes):
            self._do(lambda table: table.opened.go_to(nodes[number]))

    def _switch(self, *, is_better: bool) -> None:
        """Show what would have followed, or what did; a second time, neither."""
        line = self.continuation
        if line is not None and line.is_better == is_better:
            self.leave_line()
            return
        turn, review, opened = self._turn(), self._review, self._session.table.opened
        if turn is None or not turn or review is None or opened.node.parent is None:
            return
        if is_better:
            best = review.positions[turn - 1].candidates[0]
            moves = tuple(_point(vertex, opened.size) for vertex in best.variation[:_STEPS_SHOWN])
        else:
            line_of_game = (opened.move_of(node) for node in opened.node.main_line())
            moves = tuple(move for move in line_of_game if move is not None)[:_STEPS_SHOWN]
        self.continuation = Continuation(opened.node.parent, moves, is_better)
        self._refresh_all()

    def _turn(self) -> int | None:
        """The turn on the board, None where it is not one of those that are reviewed."""
        review, opened = self._review, self._session.table.opened
        nodes = list(opened.record.main_line())
        shown = (nodes[one.node] if one.node < len(nodes) else None for one in (review.positions if review else ()))
        return next((turn for turn, node in enumerate(shown) if node is opened.node), None)

    # What is shown

    def draw_over(self, picture: Picture) -> Picture:
        """The board with what the review says of the move that was just played."""
        review, turn = self._review, self._turn()
        if self.continuation is not None:
            return self.continuation.draw(self._session.table, picture)
        if review is None or turn is None or turn == 0:
            return picture
        move = review.positions[turn].move
        if move is None or not review.positions[turn - 1].in_full:
            return picture
        return show_alternatives(picture, review.positions[turn - 1], move)

    def refresh(self) -> None:
        """Show what is known; where one stands is marked if that is on the main line."""
        self._session.reviewing.check()
        review, reviewing = self._review, self._session.reviewing
        self._panel.set_visibility(review is not None)
        self._graph.set_visibility(review is not None)
        has_moves = bool(self._session.table.opened.record.root.children)
        is_counting = self._session.table.phase is Phase.COUNTING
        self._begin_button.set_visibility(has_moves and not reviewing.is_running and not is_counting)
        self._begin_button.set_text(texts.REVIEW if review is None else texts.REVIEW_AGAIN)
        self._stop_button.set_visibility(reviewing.is_running)
        if review is None:
            self.continuation = None
            return
        turn = self._turn()
        mistakes = review.mistakes()
        self._graph.show(review.positions, mistakes, review.turns, self._place() if turn is None else turn)
        self._show_progress(review)
        self._show_turn(review, turn)
        self._show_cards(review)

    def _show_progress(self, review: Review) -> None:
        reviewing = self._session.reviewing
        self._making.set_visibility(reviewing.is_running or bool(reviewing.notice))
        self._bar.set_visibility(reviewing.is_running)
        self._bar.set_value(round(review.share, 3))
        self._progress.set_text(reviewing.notice or describe_progress(review))

    def _show_turn(self, review: Review, turn: int | None) -> None:
        position = None if turn is None else review.positions[turn]
        move = None if position is None else position.move
        self._sentence.set_text(describe_turn(review, turn))
        is_mistake = move is not None and (move.sure_loss or 0) >= LEAST_MISTAKE and move.best not in (None, move.move)
        self._lines.set_visibility(is_mistake)
        if move is not None:
            self._played.set_text(texts.PLAYED.format(move=move.move))
            self._better.set_text(texts.BETTER.format(move=move.best))
        line = self.continuation
        for button, is_better in ((self._played, False), (self._better, True)):
            mark_chosen(button, line is not None and line.is_better == is_better)
        self._steps.set_visibility(line is not None)
        self._step.set_text("" if line is None else f"{line.step} / {len(line.moves)}")
        self._behind.set_visibility(position is not None)
        self._numbers.set_text("" if position is None else "\n".join(words.describe_position(position)))
        self._models.set_text("\n".join(words.describe_models(move)))
        self._save.set_visibility(review.game is not None)

    def _show_cards(self, review: Review) -> None:
        found = find_mistakes(review.positions)
        sides = {color: [one for one in found if one.color == color][:_CARDS_A_SIDE] for color in self._sides}
        shown = [move for moves in sides.values() for move in moves]
        if shown == self._cards_for:
            return
        self._cards_for = shown
        turns = {one.move.number: turn for turn, one in enumerate(review.positions) if one.move is not None}
        for color, moves in sides.items():
            self._sides[color].clear()
            with self._sides[color]:
                for move in sorted(moves, key=lambda one: one.number):
                    self._add_card(move, turns[move.number])

    def _add_card(self, move: MoveRecord, turn: int) -> None:
        lost = Lost.of_move(move)
        with quiet_button("", lambda: self._go_to_turn(turn)).classes("k-mistake").props("align=left"):
            ui.element("span").classes("k-disc " + ("k-b" if move.color == "black" else "k-w"))
            ui.label(texts.MISTAKE.format(number=move.number, move=move.move))
            ui.label(lost.text).classes("k-lost").style(f"background: {lost.color}")


def describe_progress(review: Review) -> str:
    """How far a review is, and how long it will take."""
    if not review.positions:
        return texts.FIRST_LOOK
    text = texts.SECOND_LOOK.format(done=review.searched, all=review.turns)
    return text if not review.seconds_left else text + texts.TIME_LEFT.format(time=_format_seconds(review.seconds_left))


def _format_seconds(seconds: float) -> str:
    """About so long, as one says it."""
    if seconds < 90:
        return texts.SECONDS_LEFT.format(count=max(5, 5 * round(seconds / 5)))
    return texts.MINUTES_LEFT.format(count=round(seconds / 60))


def describe_turn(review: Review, turn: int | None) -> str:
    """What is said of the move on the board, in a sentence or two."""
    if turn is None:
        return texts.OFF_THE_GAME
    move = review.positions[turn].move
    if move is None:
        return texts.GO_TO_A_MISTAKE if review.mistakes() else ""
    if any(one.is_first_look for one in review.positions[turn - 1 : turn + 1]):
        return texts.NOT_YET
    if (move.sure_loss or 0.0) < LEAST_MISTAKE:
        return texts.NO_MISTAKE.format(color=move.color.capitalize(), move=move.move)
    return explain_mistake(move)


def explain_mistake(move: MoveRecord) -> str:
    """What a move lost, what was better, and what the opponent does to it, if that can be seen."""
    return " ".join(filter(None, (words.describe_loss(move), words.describe_answer(move))))
