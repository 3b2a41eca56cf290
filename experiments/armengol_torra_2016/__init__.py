"""Armengol & Torra (2016), anti-unification: patterns instead of taxonomies, and how well trees learn from them."""
