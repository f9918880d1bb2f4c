"""The rules of the game, in the words of KGS and of KataGo. A change leaves the position and the komi as they are."""

from __future__ import annotations

import json

from katachi.go.rules import RulesError, parse_rules
from katachi.gtp.protocol import GtpError
from katachi.gtp.serving import CommandTable
from katachi.gtp.session import Session

table = CommandTable[Session]()

_KGS_RULES = {"chinese": "chinese-kgs", "aga": "aga", "japanese": "japanese", "new_zealand": "new-zealand"}


@table.command("kata-get-rules")
def get_rules(session: Session) -> str:
    return json.dumps(session.game.rules.to_json(), sort_keys=True, separators=(",", ":"))


@table.command("kata-set-rules")
def set_rules(session: Session, *rules: str) -> str:
    """Rules by name or as JSON."""
    try:
        session.set_rules(parse_rules(" ".join(rules)))
    except RulesError as error:
        raise GtpError(f"bad rules: {error}") from None
    return ""


@table.command("kata-set-rule")
def set_rule(session: Session, key: str, value: str) -> str:
    """Change one of them, under its name in the JSON form."""
    rules = session.game.rules.to_json()
    rules[key] = {"true": True, "false": False}.get(value.lower(), value)
    return set_rules(session, json.dumps(rules))


@table.command("kgs-rules")
def kgs_rules(session: Session, name: str) -> str:
    if name.lower() not in _KGS_RULES:
        raise GtpError(f"bad rules: KGS knows {', '.join(_KGS_RULES)}")
    return set_rules(session, _KGS_RULES[name.lower()])
