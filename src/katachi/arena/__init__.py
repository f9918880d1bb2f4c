"""Matches and tournaments: games between players under a referee, kept on disk, counted and rated.

Read ``match`` (one game), ``tournament`` (all of them), ``records`` (what survives a kill), ``ratings`` (what it all
means) and ``report``.
"""
