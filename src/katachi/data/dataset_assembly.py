"""Putting a set of games together from its parts; its card comes last, so that nothing unfinished looks whole.

Games that come more than once, with the same stones set up and the same moves, are all of one split, whichever files
they are in: that of their shortest record, since the longer ones are the same with something added.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from katachi.core.disk import sync_folder, temporary_path, write_atomically
from katachi.data.dataset import (
    CARD,
    ENDING,
    ENDINGS,
    GAME,
    GAMES,
    MARKS,
    MOVES,
    STONES,
    Dataset,
    DatasetCard,
    DatasetError,
    Source,
    checksum,
)
from katachi.data.importing import Faults, SavedPart, place


class NoGames(DatasetError):
    """Files in which there is no game to be imported."""


def put_together(
    folder: Path, parts: Sequence[SavedPart], sources: list[Source], *, unique: bool, splits_of: Sequence[str] = ()
) -> None:
    """Write the files of a set and then its card; ``unique`` keeps the first of equal games alone.

    A game that one of the sets ``splits_of`` has, too, is of the split that it is of there.
    """
    faults = Faults.none()
    for part in parts:
        faults.merge(part.faults())
    found = [part.games() for part in parts]
    if not sum(part_games.keys.size for part_games in found):
        raise NoGames(f"there are no games to import: {', '.join(faults.examples[:1]) or 'no files'}")
    games, keys, lengths, endings = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    is_first = share_splits(games, keys, lengths)
    kept = is_first if unique else np.ones_like(is_first)
    elsewhere = _take_splits(games, keys, splits_of)
    _write_files(folder, parts, games, endings, kept)
    sync_folder(folder)
    card = DatasetCard(
        games=int(np.count_nonzero(kept)),
        moves=int(games["moves"][kept].sum(dtype=np.int64)),
        unique=unique,
        sources=sources,
        repeated=int(np.count_nonzero(~is_first)),
        skipped=dict(faults.skipped.most_common()),
        cut=dict(faults.cut.most_common()),
        examples=faults.examples,
        splits_of=list(splits_of),
        split_elsewhere=int(np.count_nonzero(elsewhere & kept)),
        files={name: checksum(folder / name) for name in (GAMES, MOVES, STONES, ENDINGS, MARKS)},
    )
    write_atomically(folder / CARD, card.model_dump_json(indent=2) + "\n")


def share_splits(games: NDArray[Any], keys: NDArray[np.uint64], lengths: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Give equal games the split of the shortest record among them; returns which games come for the first time."""
    _, firsts, groups = np.unique(keys, return_index=True, return_inverse=True)
    shortest_first = np.lexsort((lengths, groups))  # group by group; of equally short ones the earlier
    leaders = shortest_first[np.searchsorted(groups[shortest_first], np.arange(firsts.size))]
    games["split"] = games["split"][leaders][groups]
    is_first = np.zeros(games.size, dtype=np.bool_)
    is_first[firsts] = True
    return is_first


def _take_splits(games: NDArray[Any], keys: NDArray[np.uint64], others: Sequence[str]) -> NDArray[np.bool_]:
    """Give games the split that they are of in other sets, the first of which counts; returns which are in one."""
    is_known = np.zeros(games.size, dtype=np.bool_)
    for other in others:
        dataset = Dataset.open(other)
        splits = {dataset.key(number): int(dataset.games["split"][number]) for number in range(dataset.card.games)}
        for number in np.flatnonzero(~is_known).tolist():
            if (split := splits.get(int(keys[number]))) is not None:
                games["split"][number] = split
                is_known[number] = True
    return is_known


def _write_files(
    folder: Path, parts: Sequence[SavedPart], games: NDArray[Any], endings: NDArray[Any], kept: NDArray[np.bool_]
) -> None:
    """Write the games that are kept, and of each part the moves, stones and marks that belong to them."""
    ends = np.cumsum([part.games().keys.size for part in parts])[:-1]
    chosen = list(zip(parts, np.split(games, ends), np.split(endings, ends), np.split(kept, ends), strict=True))
    moves = (part.moves()[np.repeat(mask, rows["moves"])] for part, rows, _, mask in chosen)
    stones = (part.stones()[np.repeat(mask, rows["stones"])] for part, rows, _, mask in chosen)
    marks = (part.marks()[np.repeat(mask, rows["marks"])] for part, _, rows, mask in chosen)
    games, endings = games[kept], endings[kept]
    place(games, endings)
    _write_array(folder / GAMES, GAME, games.size, [games])
    _write_array(folder / ENDINGS, ENDING, endings.size, [endings])
    _write_array(folder / MOVES, np.uint16, games["moves"].sum(dtype=np.int64), moves)
    _write_array(folder / STONES, np.uint16, games["stones"].sum(dtype=np.int64), stones)
    _write_array(folder / MARKS, np.uint16, endings["marks"].sum(dtype=np.int64), marks)


def _write_array(path: Path, dtype: DTypeLike, length: int, blocks: Iterable[NDArray[Any]]) -> None:
    """Write blocks one after another as one array, whole or not at all, without having it in memory."""
    header = {"descr": npy.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": (int(length),)}
    temporary = temporary_path(path)
    with temporary.open("wb") as file:
        npy.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(block.tobytes())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
