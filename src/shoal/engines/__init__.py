"""Where work is done when one process of one machine is not enough. No engine changes a result."""
