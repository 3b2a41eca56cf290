"""What shoal must bear: generated tables, faults, damaged files, tampering. Every case is drawn from a seed and a number, so that it can be repeated."""
