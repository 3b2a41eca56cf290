"""Kernels of decision trees: C4.5 on integer codes, its splits, its pruning, and trees of other makers."""
