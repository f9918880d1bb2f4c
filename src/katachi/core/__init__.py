"""What all systems share: contracts, cards, models on disk, training runs, drawing."""
