"""Drives an engine by KaTrain's own code, as its windows would, and prints what KaTrain knows then.

    python katrain_games.py FOLDER ENGINE_SETTINGS FILES SCENARIO…

FOLDER has KaTrain, ENGINE_SETTINGS are those of its config.json, as JSON, and FILES is a folder of game records. Kivy,
which draws, is replaced by names that do nothing.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from types import ModuleType
from unittest.mock import MagicMock

FOLDER, SETTINGS, FILES, *SCENARIOS = sys.argv[1:]
sys.argv = sys.argv[:1]
sys.path.insert(0, FOLDER)


class JsonStore(dict):
    """Kivy's: a JSON file as a dictionary."""

    def __init__(self, file, **_):
        super().__init__(json.loads(Path(file).read_text(encoding="utf-8")))


for name, contents in {
    "kivy": {"Config": MagicMock()},
    "kivy._event": {"Observable": object},
    "kivy.utils": {"platform": "linux"},
    "kivy.storage": {},
    "kivy.storage.jsonstore": {"JsonStore": JsonStore},
}.items():
    sys.modules[name] = ModuleType(name)
    vars(sys.modules[name]).update(contents)

from katrain.core.ai import generate_ai_move  # noqa: E402
from katrain.core.base_katrain import KaTrainBase  # noqa: E402
from katrain.core.constants import OUTPUT_ERROR  # noqa: E402
from katrain.core.engine import KataGoEngine  # noqa: E402
from katrain.core.game import Game, KaTrainSGF  # noqa: E402
from pysgf import Move  # noqa: E402


class Engine(KataGoEngine):
    """KaTrain's, which also knows what KaTrain has not been answered since a new game began."""

    def on_new_game(self):
        self.waiting = []
        super().on_new_game()

    def send_query(self, query, callback, error_callback, *about, **more):
        def finish(function):
            def call(result, *partial):
                function(result, *partial)
                if not any(partial):
                    self.waiting = [other for other in self.waiting if other is not query]

            return call

        if callback:
            self.waiting.append(query)
        super().send_query(
            query, callback and finish(callback), error_callback and finish(error_callback), *about, **more
        )

    def terminate_query(self, query_id, *arguments, **options):
        self.waiting = [query for query in self.waiting if query.get("id") != query_id]
        super().terminate_query(query_id, *arguments, **options)


class KaTrain(KaTrainBase):
    """KaTrain without windows: it keeps what it would show as an error, and every line of an engine."""

    def __init__(self):
        self.errors, self.lines, self.controls, self.pondering = [], [], MagicMock(), False
        super().__init__(force_package_config=True)
        self._config["engine"] |= json.loads(SETTINGS)
        self.engine = Engine(self, self.config("engine"))

    def __call__(self, message, *arguments):
        self.errors.append([message, *map(str, arguments)])

    def log(self, message, level=0):
        (self.errors if level == OUTPUT_ERROR else self.lines).append(str(message))

    def start(self, *moves, size=9, tree=None, **properties):
        """A game in which Black and White have played some moves, and all of it is analysed."""
        self.engine.on_new_game()
        sgf = {"SZ": size, "KM": 7, "RU": "chinese"} | properties
        self.game = Game(self, self.engine, move_tree=tree, game_properties=sgf)
        for move in moves:
            self.play(move)
        return self.game

    def play(self, vertex):
        self.game.play(Move.from_gtp(vertex, player=self.game.current_node.next_player))

    def pause(self):
        time.sleep(0.01)
        if not self.engine.check_alive():
            raise SystemExit(f"the engine died: {self.errors} {self.lines[-3:]}")

    def wait(self):
        """Wait until KaTrain has all that it asked for, and has asked for every position of the game."""
        while not (all(node.analysis_complete for node in self.game.root.nodes_in_tree) and not self.engine.waiting):
            self.pause()


def describe(node):
    """What KaTrain shows of a position."""
    return {
        "move": node.move.gtp() if node.move else None,
        "visits": node.root_visits,
        "score": node.format_score(),
        "winrate": node.format_winrate(),
        "points_lost": node.points_lost,
        "ownership": len(node.ownership or []),
        "policy": len(node.policy or []),
        "best": [each["move"] for each in node.candidate_moves],
        "losses": [each["pointsLost"] for each in node.candidate_moves],
        "comment": node.comment(sgf=True, details=True),
    }


def review(katrain):
    """A game, its positions, and the record that KaTrain writes of it with the analysis inside."""
    game = katrain.start("E5", "C5", "E3", "E7", "J9", "pass")
    katrain.wait()
    nodes = [describe(node) for node in game.root.nodes_in_tree]
    trainer = katrain.config("trainer") | {"save_analysis": True, "save_marks": True}
    game.write_sgf(f"{FILES}/review.sgf", trainer)
    again = katrain.start(tree=KaTrainSGF.parse_file(f"{FILES}/review.sgf"))
    katrain.wait()
    return {"nodes": nodes, "again": [describe(node) for node in again.root.nodes_in_tree]}


def buttons(katrain):
    """All that can be asked for about a position."""
    game = katrain.start("C3", "D3", size=5)
    katrain.wait()
    found, node = {"before": describe(game.current_node)}, game.current_node
    for mode in ("extra", "equalize", "alternative", "sweep", "local"):
        game.analyze_extra(mode)
        katrain.wait()
        found[mode] = describe(node)
    game.set_region_of_interest((0, 1, 0, 1))
    katrain.play("C4")
    katrain.wait()
    found["region"] = describe(game.current_node)
    game.set_region_of_interest((0, 0, 0, 0))
    game.analyze_extra("game", visits=12)
    katrain.wait()
    found["game"] = min(node.root_visits for node in game.root.nodes_in_tree)
    before = game.current_node.root_visits
    game.analyze_extra("ponder")
    while game.current_node.root_visits <= before + 30:
        katrain.pause()
    game.analyze_extra("stop")
    katrain.play("B3")
    katrain.wait()
    found["after pondering"] = describe(game.current_node)
    return found


def strategies(katrain):
    """A move by every opponent that KaTrain has."""
    katrain.start("E5", "C5", "E3")
    katrain.wait()
    settings, moves = katrain.config("ai"), {}
    for name in settings:
        move, node = generate_ai_move(katrain.game, name, settings[name])
        moves[name] = [move.gtp(), node.player]
        katrain.wait()
    return moves


def records(katrain):
    """Files of ours, as KaTrain reads them: stones, rules, and an analysis of the last position."""
    found = {}
    for file in sorted(Path(FILES).glob("*.sgf")):
        game = katrain.start(tree=KaTrainSGF.parse_file(str(file)))
        katrain.wait()
        node = game.root
        while node.children:
            node = node.children[0]
        game.set_current_node(node)
        stones = sorted(stone.player + stone.gtp() for stone in game.stones)
        about = {"stones": stones, "rules": game.rules, "komi": game.komi, "note": node.note}
        found[file.stem] = describe(node) | about
    return found


def hurry(katrain):
    """New games while the last one is being analysed, and rules that the engine does not know."""
    for _ in range(3):
        katrain.start("E5", "C5", "E3", "E7")
    katrain.wait()
    found = {"nodes": [describe(node) for node in katrain.game.root.nodes_in_tree]}
    katrain.start(RU="stone_scoring")
    while not katrain.errors:
        katrain.pause()
    found["refused"], katrain.errors = katrain.errors, []
    katrain.engine.restart()
    katrain.start("E5")
    katrain.wait()
    found["restarted"] = describe(katrain.game.current_node)
    return found


def main() -> None:
    random.seed(1)  # some opponents draw
    katrain = KaTrain()
    found = {name: globals()[name](katrain) for name in SCENARIOS}
    katrain.engine.shutdown(finish=True)
    said = [line for line in katrain.lines if "'warning'" in line]
    sys.stdout.write(json.dumps(found | {"errors": katrain.errors, "warnings": said}) + "\n")


if __name__ == "__main__":
    main()
