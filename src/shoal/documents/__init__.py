"""Documents: read, find what should not leave, decide, redact, and see what remains."""
