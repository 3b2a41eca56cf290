"""Kernels of record linkage: neighbours, agreement, and distances that are learned."""
