from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from katachi.arena.match import RandomOpenings
from katachi.arena.records import ScheduledGame, pairings, schedule
from katachi.arena.settings import TournamentSettings

MakeSettings = Callable[..., TournamentSettings]


def scheduled(settings: TournamentSettings, played: frozenset[str] = frozenset()) -> list[ScheduledGame]:
    openings = RandomOpenings(settings.size, settings.game_rules, settings.openings.random_plies, settings.seed)
    return list(schedule(settings, openings, played))


def test_a_round_robin_pairs_everybody_once(make_settings: MakeSettings) -> None:
    pairs = [(pair.first, pair.second) for pair in pairings(make_settings("a", "b", "c"))]
    assert pairs == [("a", "b"), ("a", "c"), ("b", "c")]


def test_a_gauntlet_pairs_the_first_with_all(make_settings: MakeSettings) -> None:
    pairs = [(pair.first, pair.second) for pair in pairings(make_settings("a", "b", "c", scheme="gauntlet"))]
    assert pairs == [("a", "b"), ("a", "c")]


def test_a_ladder_pairs_each_with_the_two_that_follow(make_settings: MakeSettings) -> None:
    pairs = [(pair.first, pair.second) for pair in pairings(make_settings("a", "b", "c", "d", scheme="ladder"))]
    assert pairs == [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d"), ("c", "d")]


def test_colors_alternate_and_both_sides_get_every_opening(make_settings: MakeSettings) -> None:
    games = scheduled(make_settings("a", "b", "c", games=6))
    everybody = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")]
    assert Counter((game.black, game.white) for game in games) == dict.fromkeys(everybody, 3)
    sides = Counter((game.opening.steps, game.black, game.white) for game in games)
    assert len({game.opening.steps for game in games}) == 3
    assert set(sides.values()) == {1}


def test_without_pairs_every_game_has_an_opening_of_its_own(make_settings: MakeSettings) -> None:
    settings = make_settings(games=6, openings={"paired": False})
    games = [game for game in scheduled(settings) if game.pairing.number == 0]
    assert [game.opening.name for game in games] == [f"random {number}" for number in range(1, 7)]
    assert settings.digest() != make_settings(games=6).digest()


def test_an_odd_number_of_games_gives_the_first_player_black_once_more(make_settings: MakeSettings) -> None:
    assert [game.black for game in scheduled(make_settings("a", "b", games=3))] == ["a", "b", "a"]


def test_what_has_been_played_is_left_out_and_the_rest_is_the_same(make_settings: MakeSettings) -> None:
    settings = make_settings("a", "b", "c", games=10, seed=3)
    everything = scheduled(settings)
    played = frozenset(game.id for game in everything[::3])
    assert scheduled(settings, played) == [game for game in everything if game.id not in played]
    assert len({game.id for game in everything}) == 30


def test_seeds_are_all_different_fit_in_31_bits_and_depend_on_the_tournament(make_settings: MakeSettings) -> None:
    games = scheduled(make_settings("a", "b", "c", games=50))
    seeds = [seed for game in games for seed in (game.seeds.black, game.seeds.white)]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**31 for seed in seeds)
    others = scheduled(make_settings("a", "b", "c", games=50, seed=1))
    assert not {game.seeds for game in games} & {game.seeds for game in others}
