"""What large experiments would take, from measured rates, and where the loop of expert iteration clogs.

    python benchmarks/scale.py plan
    python benchmarks/scale.py loop [--workers 10 100 1000] [--games 600] [--hours 4]

``plan`` prints core-hours, GPU-hours, network and disk as a table. ``loop`` simulates workers that play, a head that
takes their games in, and a learner, twice: as ``katachi train expert`` does it, generation by generation, and without
waiting. It prints how busy workers and learner are, how many parts wait, and how many networks old the games are.
Every rate below names where it was measured, or that it is assumed.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
from dataclasses import dataclass
from typing import Final

from katachi.papers.silver2007.figure4 import LEARNERS

# Rates, measured by commands of this repository on two cores.

FAST_GAMES: Final = 29_236  # games/s and core of 5×5 self-play, learning after each game: katachi bench td
MOVE_GAMES: Final = 5_893  # the same, learning after each move, as sets larger than 3×3 do, which may be slower still
TEST_GAMES: Final = 0.22  # for each game: every 500 games 100, and 2,000 in the end, taken to be as fast
TRAINING: Final = 86 / 2 * 9 / 12  # positions/s and core of 12×128: 9×128 by katachi bench training, verification.md
GENERATION: Final = 3_051.0  # seconds of 600 games, 96,000 positions and 64 match games: metrics.jsonl of expert-9
LEARNING: Final = 256_000 / (0.15 * 3600)  # positions/s of a 9×64 on 9×9, two cores: the card of policy-9
CORES: Final = 2  # assumed of both of these runs: their cards do not say
MODEL_BYTES: Final = 494_038 + 1_450_409 + 1_454_580  # of expert-9
PART_GAMES: Final = 48  # that a worker plays before it hands them over: policy/expert.py
RUN_BYTES: Final = 20_000  # assumed: of the results of a run of Figure 4
BYTES_PER_MOVE: Final = 2.36  # of a dataset: katachi data import, verification.md
MOVES: Final = 72.5  # of a game on 9×9: metrics.jsonl of expert-9
PART_BYTES: Final = PART_GAMES * (MOVES * (2 * 82 + 4 + 2) + 81)  # at most: visits, value and move, uncompressed
CLOSE_SHARE, VISITS, QUICK_VISITS, MATCH_VISITS = 0.25, 200, 20, 24  # the recipe of expert-9
GPU_FLOPS: Final = 0.3 * 19.5e12  # assumed, not measured: 30 % of what an A100 says of itself in float32
KATAGO_ROWS: Final = 26_788_732  # that b6c96 learned from: the last file is kata1-b6c96-s175395328-d26788732


def core_seconds_a_game() -> float:
    """Of self-play: a generation without its learning, its match games counted by their visits."""
    visits = CLOSE_SHARE * VISITS + (1 - CLOSE_SHARE) * QUICK_VISITS
    games = 600 + 64 * MATCH_VISITS / visits
    return CORES * (GENERATION - 96_000 / LEARNING) / games


@dataclass(frozen=True, slots=True)
class Cost:
    what: str
    core_hours: float
    gpu_hours: float | None
    network: float  # bytes that go to each of 20 machines and come back from all of them
    disk: float
    first: str  # what saturates first


def plan() -> list[Cost]:
    runs, games, slow = 50, 100_000, sum(learner.shape_set.is_hashed for learner in LEARNERS)
    each = (len(LEARNERS) - slow) / FAST_GAMES + slow / MOVE_GAMES
    seconds = runs * games * (1 + TEST_GAMES) * each
    positions, flops = 27.4e6 * 28, 627_966_720 * 2 * 3
    rows = KATAGO_ROWS / (CLOSE_SHARE * MOVES)
    learned = rows * 96_000 / 600  # positions, as many for each game as in a generation
    return [
        Cost(
            f"Figure 4, {len(LEARNERS)} learners × {runs} runs × {games:,} games",
            seconds / 3600,
            None,
            runs * len(LEARNERS) * RUN_BYTES,
            runs * len(LEARNERS) * RUN_BYTES,
            "cores",
        ),
        Cost(
            "Maddison et al., 27.4 million positions × 28 passes, 12×128",
            positions / TRAINING / 3600,
            positions * flops / GPU_FLOPS / 3600,
            27.4e6 * BYTES_PER_MOVE * 20,
            27.4e6 * BYTES_PER_MOVE,
            "the sum of gradients: 9.2 MB for each batch and machine",
        ),
        Cost(
            f"expert iteration on 9×9, {rows / 1e6:.2f} million games: as many rows as KataGo's b6c96",
            (rows * core_seconds_a_game() + CORES * learned / LEARNING) / 3600,
            None,
            rows / PART_GAMES * PART_BYTES + 20 * MODEL_BYTES * rows / 600,
            rows / PART_GAMES * PART_BYTES,
            "the learner, which is one machine",
        ),
    ]


@dataclass(slots=True)
class Loop:
    workers_busy: float
    learner_busy: float
    longest_queue: int
    mean_age: float  # networks between the one that played and the one that learns
    games_an_hour: float


def simulate_generations(workers: int, games: int, positions: int, hours: float, part: int, seed: int = 1) -> Loop:
    """Play a generation, learn, and decide by a match, in which workers play, too; a generation waits for the last."""
    rng, now, played, played_seconds, learned = random.Random(seed), 0.0, 0, 0.0, 0.0
    while now < hours * 3600:
        ends = [0.0] * workers
        heapq.heapify(ends)
        for first in range(0, games, part):
            seconds = _draw(rng, min(part, games - first))
            played_seconds += seconds
            heapq.heappush(ends, heapq.heappop(ends) + seconds)
        learning = positions / LEARNING
        matches = _draw(rng, 64 * MATCH_VISITS / (CLOSE_SHARE * VISITS + (1 - CLOSE_SHARE) * QUICK_VISITS)) / 8
        now += max(ends) + learning + matches
        learned += learning
        played += games
    return Loop(played_seconds / (now * workers), learned / now, 0, 1.0, played / now * 3600)


def simulate_stream(workers: int, games: int, positions: int, hours: float, part: int, seed: int = 1) -> Loop:
    """Workers never wait, and take the newest network with every part; the learner learns from what has come."""
    rng = random.Random(seed)
    ends = [(_draw(rng, part) * rng.random(), number) for number in range(workers)]
    heapq.heapify(ends)
    network_of = [0] * workers
    network, learner_free, waiting, ages = 0, 0.0, [], []
    busy, longest, played, now = 0.0, 0, 0, 0.0
    while now < hours * 3600:
        now, number = heapq.heappop(ends)
        while learner_free <= now and sum(count for count, _ in waiting) >= games:
            taken, used = 0, []
            while waiting and taken < games:
                count, made_by = waiting.pop(0)
                taken += count
                used.append(network - made_by)
            ages += used
            network += 1
            begun = max(learner_free, now)
            learner_free = begun + positions / LEARNING
            busy += positions / LEARNING
        waiting.append((part, network_of[number]))
        longest = max(longest, len(waiting))
        played += part
        network_of[number] = network
        heapq.heappush(ends, (now + _draw(rng, part), number))
    return Loop(1.0, min(1.0, busy / now), longest, statistics.mean(ages or [0]), played / now * 3600)


def _draw(rng: random.Random, games: float) -> float:
    """The core-seconds of games, which are assumed to vary by a fifth from part to part."""
    return core_seconds_a_game() * games * max(0.2, rng.gauss(1, 0.2))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["plan", "loop"])
    parser.add_argument("--workers", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--games", type=int, default=600, help="of a generation")
    parser.add_argument("--positions", type=int, default=96_000, help="that are learned from after them")
    parser.add_argument("--part", type=int, default=PART_GAMES, help="games that a worker hands over at once")
    parser.add_argument("--hours", type=float, default=12.0)
    given = parser.parse_args()
    if given.what == "plan":
        print("| what | core-hours | GPU-hours | network, 20 machines | disk | saturates first |")
        print("|---|---|---|---|---|---|")
        for cost in plan():
            gpu = "–" if cost.gpu_hours is None else f"{cost.gpu_hours:,.0f}"
            sizes = f"{cost.network / 1e9:,.2f} GB | {cost.disk / 1e9:,.2f} GB"
            print(f"| {cost.what} | {cost.core_hours:,.0f} | {gpu} | {sizes} | {cost.first} |")
        return
    print(f"one game takes {core_seconds_a_game():.1f} core-seconds, {given.positions:,} positions", end=" ")
    print(f"{given.positions / LEARNING:.0f} s\n")
    print("| workers | loop | games/h | workers busy | learner busy | longest queue, parts | age, networks |")
    print("|---|---|---|---|---|---|---|")
    for workers in given.workers:
        sizes = (workers, given.games, given.positions, given.hours, given.part)
        for name, loop in (("generations", simulate_generations(*sizes)), ("stream", simulate_stream(*sizes))):
            busy = f"{loop.workers_busy:.0%} | {loop.learner_busy:.0%}"
            print(f"| {workers:,} | {name} | {loop.games_an_hour:,.0f} | {busy} | {loop.longest_queue:,} |", end=" ")
            print(f"{loop.mean_age:.1f} |")


if __name__ == "__main__":
    main()
