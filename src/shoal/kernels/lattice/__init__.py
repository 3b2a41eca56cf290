"""Kernels of full-domain recoding: the lattice of levels, one level for every column."""
