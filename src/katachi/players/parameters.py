"""Settings as named parameters that can be listed, and changed by a text: what GTP offers of a player.

Settings are frozen dataclasses or pydantic models that check themselves, and may hold others. Names are the dotted
keys of a player's TOML file.

>>> from katachi.core.contracts import Limit
>>> list_parameters("limit", Limit(seconds=2.0))
{'limit.simulations': None, 'limit.depth': None, 'limit.seconds': 2.0}
>>> change_parameter(Limit(), "simulations", "100")
Limit(simulations=100, depth=None, seconds=None)
"""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ValidationError

from katachi.core.contracts import Parameter

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SettingsT = TypeVar("SettingsT", bound="DataclassInstance | BaseModel")

_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "1": True, "0": False, "none": None}


def list_parameters(table: str, settings: DataclassInstance | BaseModel) -> dict[str, Parameter]:
    """The fields of settings that a text can say, by their dotted names."""
    found: dict[str, Parameter] = {}
    for name, value in _values(settings).items():
        if isinstance(value, Parameter):
            found[f"{table}.{name}"] = value
        elif isinstance(value, BaseModel) or (is_dataclass(value) and not isinstance(value, type)):
            found |= list_parameters(f"{table}.{name}", value)
    return found


def change_parameter(settings: SettingsT, name: str, text: str) -> SettingsT:
    """The settings with one field as a text says it; raises ValueError with a sentence if it cannot be that."""
    outer, _, inner = name.partition(".")
    if inner:
        value = change_parameter(getattr(settings, outer), inner, text)
    else:
        value = _parse(name, text, _alternatives(get_type_hints(type(settings))[name]))
    try:
        return type(settings)(**{**_values(settings), outer: value})
    except ValidationError as error:
        raise ValueError(f"{name} cannot be {text!r}: {error.errors()[0]['msg']}") from None


def _values(settings: DataclassInstance | BaseModel) -> dict[str, Any]:
    names = type(settings).model_fields if isinstance(settings, BaseModel) else [f.name for f in fields(settings)]
    return {name: getattr(settings, name) for name in names}


def _alternatives(hint: Any) -> tuple[type, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _parse(name: str, text: str, kinds: tuple[type, ...]) -> Parameter:
    word = text.lower()
    if word in _WORDS and type(_WORDS[word]) in kinds:
        return _WORDS[word]
    for kind in kinds:
        if kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
    if str in kinds or text in (word for kind in kinds for word in get_args(kind)):
        return text
    raise ValueError(f"{name} cannot be {text!r}: it is {' or '.join(map(_describe, kinds))}")


def _describe(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return " or ".join(get_args(kind))
    return "none" if kind is type(None) else {int: "an integer", float: "a number", bool: "true or false"}[kind]
