"""Learning: from self-play and from records to weights."""
