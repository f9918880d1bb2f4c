"""Matches and tournaments: games between players under a referee, kept on disk, counted and rated.

Read ``match`` (one game), ``worker`` (one game from its settings to its record), ``tournament`` (all of them),
``records`` (what survives a kill), ``standings`` and ``ratings`` (what it all means), ``report`` and ``html``.
"""
