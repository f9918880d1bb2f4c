"""Answers of KataGo's analysis protocol: an analysis as a JSON object with KataGo's field names.

What a player does not know has a neutral value where tools rely on it: visits 1, an even win rate, a lead, a prior
and a standard deviation of 0. ``ownership`` and ``policy`` are left out if they are not known. The score after a move
is that of the position unless the player knows better.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from katachi.core.contracts import Analysis, Candidate, Evaluator
from katachi.go.board import Board
from katachi.go.game import Game
from katachi.go.points import BLACK, PASS, Symmetry, format_vertex
from katachi.gtp.analysis_queries import Query
from katachi.gtp.reports import lead_of, lower_bound, total_visits, win_rate
from katachi.players.asking import Selection, count_visits, spread_of

Answer = dict[str, Any]


def describe_nothing(query: Query, turn: int) -> Answer:
    """The answer to a turn that was terminated before it was looked at."""
    return {"id": query.id, "turnNumber": turn, "isDuringSearch": False, "noResults": True}


def describe_analysis(
    query: Query, turn: int, game: Game, analysis: Analysis, evaluator: Evaluator | None, *, is_during_search: bool
) -> Answer:
    """The answer about a turn."""
    view = query.perspective.color(game.to_play)
    candidates = Selection(list(query.bans)).choose(analysis.candidates, game)
    answer: Answer = {
        "id": query.id,
        "turnNumber": turn,
        "isDuringSearch": is_during_search,
        "moveInfos": [
            {"move": format_vertex(candidate.move, game.size), "order": order, "pv": _variation(candidate, game.size)}
            | _values(analysis, candidate, visits, game.to_play, view)
            | _variation_visits(query, candidate)
            for order, (candidate, visits) in enumerate(zip(candidates, count_visits(candidates), strict=True))
        ],
        "rootInfo": _describe_root(analysis, game, view),
    }
    if analysis.ownership is not None:
        owners = {"ownership": _plain(view * analysis.ownership)} if query.ownership else {}
        spread = {"ownershipStdev": _plain(spread_of(analysis.ownership))} if query.ownership_spread else {}
        answer |= owners | spread
    policy = _policy(game, analysis, evaluator) if query.policy else None
    return answer if policy is None else answer | {"policy": policy}


def _describe_root(analysis: Analysis, game: Game, view: int) -> Answer:
    hashes = sorted(_hash(game.board, symmetry) for symmetry in Symmetry)
    return _values(analysis, None, max(1, total_visits(analysis)), game.to_play, view) | {
        "currentPlayer": "B" if game.to_play == BLACK else "W",
        "thisHash": _hash(game.board, Symmetry.IDENTITY),
        "symHash": hashes[0],
    }


def _values(analysis: Analysis, candidate: Candidate | None, visits: int, to_play: int, view: int) -> Answer:
    """The numbers of a candidate, or with None of the position."""
    wins = win_rate(analysis, candidate, view)
    bound = lower_bound(analysis, candidate, to_play)  # of the player to move, whoever looks at it
    bound = bound if view == to_play else 1 - bound
    lead = lead_of(analysis, candidate, view) or 0.0
    values: Answer = {"visits": visits, "weight": float(visits), "winrate": wins, "lcb": bound}
    values |= {"utility": 2 * wins - 1, "utilityLcb": 2 * bound - 1}
    values |= {"scoreLead": lead, "scoreMean": lead, "scoreSelfplay": lead, "scoreStdev": 0.0}
    if candidate is not None:
        values |= {"edgeVisits": visits, "edgeWeight": float(visits), "playSelectionValue": float(visits)}
        values["prior"] = 0.0 if candidate.prior is None else candidate.prior
    return values


def _variation(candidate: Candidate, size: int) -> list[str]:
    return [format_vertex(move, size) for move in candidate.variation or (candidate.move,)]


def _variation_visits(query: Query, candidate: Candidate) -> Answer:
    known = query.variation_visits and candidate.variation_visits
    return {"pvVisits": list(candidate.variation_visits)} if known else {}


def _policy(game: Game, analysis: Analysis, evaluator: Evaluator | None) -> list[float] | None:
    """The evaluator's policy, or else the priors of the candidates, with a sum of 1; -1 where a move is illegal."""
    policy = np.zeros(game.size**2 + 1)
    if evaluator is not None:
        policy[:] = evaluator.evaluate([game.board]).policy[0]
    elif any(candidate.prior is not None for candidate in analysis.candidates):
        for candidate in analysis.candidates:
            policy[candidate.move if candidate.move != PASS else -1] = candidate.prior or 0.0
    else:
        return None
    legal = game.legal_moves()
    total = policy[legal].sum() or 1.0
    return _plain(np.where(legal, policy / total, -1.0))


def _hash(board: Board, symmetry: Symmetry) -> str:
    """128 bits of the stones, who is to play and the ko, seen through a symmetry."""
    stones = np.empty_like(board.stones)
    stones[symmetry.points(board.size)] = board.stones
    ko = -1 if board.ko_point is None else symmetry.apply(board.ko_point, board.size)
    content = b"%d %d %d " % (board.size, board.to_play, ko) + stones.tobytes()
    return blake2b(content, digest_size=16).hexdigest().upper()


def _plain(values: NDArray[Any]) -> list[float]:
    return [round(float(value), 6) + 0.0 for value in values]
