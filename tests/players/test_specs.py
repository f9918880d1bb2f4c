from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from katachi.core.cards import ModelError
from katachi.core.contracts import ClosingPlayer, Limit, Player
from katachi.go.game import Game
from katachi.gtp import GtpPlayer
from katachi.players import specs
from katachi.players.simple import AlpPlayer, InfluencePlayer, RandomPlayer
from katachi.players.specs import (
    PlayerSpec,
    SpecError,
    bundled_players,
    choose_size,
    default_player,
    find_model_of,
    find_spec,
    load_player,
    parse_spec,
    player_file,
    register_kind,
)

PRETRAINED = [player.name for player in bundled_players()]


@pytest.mark.parametrize("kind", [RandomPlayer, AlpPlayer, InfluencePlayer])
def test_shipped_names(kind):
    player = load_player(kind.kind, seed=1)
    assert isinstance(player, kind)
    assert player.name == kind.kind


def test_shipped_players_are_described():
    shipped = bundled_players()
    assert {player.name for player in shipped} == {
        path.stem for path in (Path(specs.__file__).parent / "shipped").glob("*.toml")
    }
    assert all(len(player.description) > 20 for player in shipped)


def test_shipped_players_are_ordered_by_their_numbers():
    sizes = [name for name in PRETRAINED if name.startswith("shapes-") and name[7:].isdigit()]
    assert sizes == ["shapes-5", "shapes-9", "shapes-13", "shapes-19"]
    assert PRETRAINED.index("alp") < PRETRAINED.index("random")


def test_the_default_is_what_was_learned_on_that_size():
    assert {"shapes-5", "shapes-9", "shapes-alphabeta-9"} <= set(PRETRAINED)
    assert default_player(9) == "shapes-9"
    assert default_player(8) == "alp"


def test_the_seed_reaches_the_player():
    moves = [load_player("random", seed=seed).decide(Game(19), Limit()).move for seed in (1, 1, 2, 3)]
    assert moves[0] == moves[1]
    assert len(set(moves)) > 1


def test_a_file(tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text('kind = "alp"\nname = "my ALP"\ndescription = "…"\n')
    player = load_player(str(path))
    assert isinstance(player, AlpPlayer)
    assert player.name == "my ALP"


def test_a_file_without_suffix_and_a_shipped_name_before_a_file(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "alp"):
        (tmp_path / name).write_text('kind = "random"\n')
    assert isinstance(load_player("mine"), RandomPlayer)
    assert isinstance(load_player("alp"), AlpPlayer)


@pytest.mark.parametrize("text", ["gtp:some-engine --level 0", "gtp: some-engine --level 0"])
def test_gtp_command(text):
    player = load_player(text)
    assert isinstance(player, GtpPlayer)
    assert isinstance(player, ClosingPlayer)


def test_gtp_spec_with_a_name():
    player = parse_spec('kind = "gtp"\ncommand = "gnugo --mode gtp"\nname = "gg0"').build(None)
    assert player.name == "gg0"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('kind = "alp"\nnmae = "x"', "spec: unknown key 'nmae'; did you mean 'name'?"),
        ('kind = "alp"\nzzz = 1', "spec: unknown key 'zzz'; known are kind, name, description, rating"),
        ('kind = "apl"', "spec: unknown kind 'apl'; did you mean 'alp'?"),
        ('name = "x"', 'spec: it must say kind = "…", one of gtp, random, alp, influence, search, by-size'),
        ("kind = 3", 'spec: it must say kind = "…", one of gtp, random, alp, influence, search, by-size'),
        ('kind = "gtp"', "spec: the key 'command' is missing"),
        ('kind = "alp"\nname = 3', "spec: name = 3: Input should be a valid string"),
        ('kind = "gtp"\ncommand = ""', "spec: command = '': String should have at least 1 character"),
    ],
)
def test_what_is_wrong_with_a_spec(text, sentence):
    with pytest.raises(SpecError) as caught:
        parse_spec(text)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("limit.simulations=" + "9" * 30, "less than or equal to 1000000000000"),
        ("limit.simulations=" + "9" * 5000, "valid integer"),
        ("limit.seconds=1e300", "less than or equal to 2147483648"),
        ("limit.seconds=inf", "finite"),
        ("search.temperature=1e300", "less than or equal to 1000"),
    ],
)
def test_values_that_are_out_of_range_are_refused(change, sentence):
    with pytest.raises(SpecError, match=sentence) as caught:
        specs.find_spec(f"shapes-5 {change}")
    assert len(str(caught.value)) < 400
    key, _, value = change.partition("=")
    with pytest.raises(SpecError):
        parse_spec(f'kind = "search"\n{key} = {value}')


def test_no_toml():
    with pytest.raises(SpecError, match=r"^mine\.toml: no TOML: .*line 1"):
        parse_spec("kind = = 1\n", "mine.toml")


def test_unknown_players(tmp_path: Path):
    with pytest.raises(SpecError, match=r"^no player is called 'influense'; did you mean 'influence'\?$"):
        load_player("influense")
    with pytest.raises(SpecError, match=f"^no player is called 'zzz'; known are {', '.join(PRETRAINED)}$"):
        load_player("zzz")
    with pytest.raises(SpecError, match=r"nothere\.toml: there is no such file$"):
        load_player(str(tmp_path / "nothere.toml"))
    with pytest.raises(SpecError, match="must be followed by a command"):
        load_player("gtp:  ")


@pytest.mark.parametrize("text", ["../shipped/alp", "shipped/alp", "", ".", "a\0b", "/", "alp.toml", 999 * "x"])
def test_names_lead_nowhere_else(text):
    with pytest.raises(SpecError):
        load_player(text)


def test_bytes_that_are_no_text_and_files_too_large(tmp_path: Path):
    path = tmp_path / "bad.toml"
    path.write_bytes(b'kind = "\xff"')
    with pytest.raises(SpecError, match=r"bad\.toml: "):
        load_player(str(path))
    path.write_bytes(b"#" * (specs.MAX_SPEC_BYTES + 1))
    with pytest.raises(SpecError, match="larger than"):
        load_player(str(path))


@given(st.text())
def test_any_text_is_a_spec_or_a_spec_error(text):
    with suppress(SpecError):
        assert isinstance(parse_spec(text), PlayerSpec)


class _Resignation(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    below: float = 0.05


class _DoubleSpec(PlayerSpec):
    resignation: _Resignation = _Resignation()

    def build(self, seed: int | None) -> Player:
        return RandomPlayer(f"resigns below {self.resignation.below}", seed)


@pytest.fixture
def double_kind(monkeypatch):
    monkeypatch.setattr(specs, "_registered", dict(specs._registered))
    register_kind("double", lambda: _DoubleSpec)


@pytest.mark.usefixtures("double_kind")
def test_a_new_kind_with_a_table():
    spec = parse_spec('kind = "double"\n[resignation]\nbelow = 0.1')
    assert spec.build(None).name == "resigns below 0.1"
    with pytest.raises(SpecError) as caught:
        parse_spec('kind = "double"\n[resignation]\nbelwo = 0.1')
    assert str(caught.value) == "spec: unknown key 'resignation.belwo'; did you mean 'below'?"


@pytest.mark.usefixtures("double_kind")
def test_a_kind_is_registered_once():
    with pytest.raises(ValueError, match="already a kind of player called 'double'"):
        register_kind("double", lambda: _DoubleSpec)


# Players of runs and models

FORMER = Path(__file__).parents[1] / "golden" / "first-release"


@pytest.fixture
def run(tmp_path: Path, monkeypatch) -> Path:
    """The run of a network, whose player is called cnn, under another name."""
    shutil.copytree(FORMER / "runs" / "cnn", tmp_path / "runs" / "mine")
    shutil.copytree(FORMER / "runs" / "cnn", tmp_path / "runs" / "cnn")  # where its player looks for the model
    monkeypatch.chdir(tmp_path)
    return Path("runs/mine")


@pytest.mark.parametrize("part", ["", "player.toml", "model", "."])
def test_a_player_is_found_by_its_run_its_file_and_its_model(run, part):
    spec = find_spec(str(run / part))
    assert (spec.name, spec.search.kind, spec.board_size) == ("mine", "policy", 5)
    assert load_player(str(run / part), seed=1).name == "mine"


def test_a_model_without_a_run_plays_as_released_ones_of_its_system_do(run):
    shutil.copytree(run / "model", "network")
    spec = find_spec("./network")
    assert (spec.name, spec.search.kind) == ("network", "policy")
    assert Path(spec.evaluator.model) == Path("network").resolve()


def test_the_first_player_of_a_run_with_several(run):
    text = (run / "player.toml").read_text()
    (run / "player.toml").unlink()
    for number in (10, 2):
        (run / f"player-{number}.toml").write_text(text)
    assert player_file(str(run)).name == "player-2.toml"
    assert find_spec(str(run / "player-10.toml")).name == "mine-10"


def test_players_are_called_by_a_name_of_their_own(tmp_path: Path):
    file = tmp_path / "deep.toml"
    file.write_text('kind = "search"\n[search]\nkind = "mcts"\n')
    assert load_player(str(file)).name == "deep"
    assert load_player("level-3").name == "level-3"
    assert load_player("gtp:/usr/games/gnugo --mode gtp").name == "gnugo"


def test_settings_may_follow_a_player(tmp_path: Path):
    file = tmp_path / "my player.toml"
    file.write_text('kind = "search"\n[search]\nkind = "mcts"\n')
    player = load_player(f"{file} limit.simulations=7 search.playouts.patterns=false search.priors=none")
    assert player.name == "my player limit.simulations=7 search.playouts.patterns=false search.priors=none"
    expected = {"limit.simulations": 7, "search.playouts.patterns": False, "search.priors": "none"}
    assert {key: player.parameters[key] for key in expected} == expected
    assert player_file(f"{file} limit.simulations=7") == file
    assert choose_size(["policy-19 evaluator.rank=1", "alp"]) == 19
    assert load_player("gtp:gnugo level=1").name == "gnugo"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("policy-9 evaluator.rnk=5", "did you mean 'rank'"),
        ("policy-9 evaluator.rank=10", r"evaluator.rank = 10"),
        ("policy-9 search.temperature=hot", "search.temperature = 'hot'"),
        ("policy-9 kind.of=5", "'kind' is not a table"),
        ("alp search.temperature=1", "unknown key 'search'"),
        ("policy-9 search.temperature", "no player is called"),
    ],
)
def test_settings_that_cannot_follow_it(text, message):
    with pytest.raises(SpecError, match=message):
        find_spec(text)


def test_folders_without_a_player(tmp_path: Path):
    with pytest.raises(SpecError, match="neither a player nor a model"):
        load_player(str(tmp_path))
    with pytest.raises(SpecError, match="there is no such file or folder"):
        load_player(str(tmp_path / "nothere"))
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(SpecError, match="card cannot be read"):
        load_player(str(tmp_path))


def test_the_model_of_a_player(run):
    assert find_model_of("strong-19").name == find_model_of("policy-19").name == "policy-19"
    assert find_model_of(str(run)) == run / "model"
    assert find_model_of(str(run / "player.toml")) == Path("runs/cnn/model")
    with pytest.raises(SpecError, match="level-5 plays without a model"):
        find_model_of("level-5")
    with pytest.raises(ModelError, match="did you mean 'shapes-9'"):
        find_model_of("shape-9")


def test_of_names_with_numbers_the_nearest_number_is_meant():
    with pytest.raises(SpecError, match="did you mean 'level-10'"):
        load_player("level-11")
