"""Kernels over sparse unit rows: groups by the cosine distance."""
