"""Game records as datasets to learn from: import, labels, batches."""
