"""Players: things that decide on a move. ``specs.load_player`` makes one from a name, a file or a GTP command."""

from __future__ import annotations

PLAYER_KINDS = {
    "random": "katachi.players.specs:SimpleSpec",
    "alp": "katachi.players.specs:SimpleSpec",
    "influence": "katachi.players.specs:SimpleSpec",
    "search": "katachi.players.specs:SearchSpec",
    "by-size": "katachi.players.by_size:BySizeSpec",
}
WARMUP = {"players": "katachi.players.simple:warmup"}
