"""The lines of an analysis: the published schema is theirs, and they come back as they were."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from pydantic import ValidationError

from helpers.networks import tiny_config, tiny_onnx
from katachi.analysis.batches import analyze_game
from katachi.analysis.judges import Judges
from katachi.analysis.records import format_schema, json_schema, parse_line
from katachi.policy.evaluator import open_policy

PUBLISHED = Path(__file__).parents[2] / "docs" / "analysis.schema.json"


@pytest.fixture
def lines(record, judges) -> list[str]:
    config = tiny_config()
    people = open_policy(config, tiny_onnx(config))
    told = Judges(judges.player, judges.limit, {**judges.evaluators, "people": people})
    return analyze_game(record, told).to_json_lines().splitlines()


def test_the_schema_is_published():
    assert PUBLISHED.read_text(encoding="utf-8") == format_schema()


def test_lines_meet_the_schema(lines):
    validator = jsonschema.Draft202012Validator(json_schema())
    for line in lines:
        validator.validate(json.loads(line))
    told = json.loads(lines[3])
    assert told["move"]["shapes"]
    assert told["move"]["people"]
    wrong = json.loads(lines[1]) | {"black_wins": 1.5}
    assert not validator.is_valid(wrong)


def test_lines_come_back(lines):
    for line in lines:
        assert parse_line(line).model_dump_json() == line


@pytest.mark.parametrize("line", ["", "{}", '{"kind":"game"}', '{"kind":"position","turn":-1}', "[]", "nonsense"])
def test_what_is_no_line_is_refused(line):
    with pytest.raises(ValidationError):
        parse_line(line)
