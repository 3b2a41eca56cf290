"""Published results, run again with shoal: each prints ours, published and the difference."""
