"""Players: things that decide on a move. ``specs.load_player`` makes one from a name, a file or a GTP command."""
