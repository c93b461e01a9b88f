"""What members say of examples, read and checked once: votes, labels and weights."""
