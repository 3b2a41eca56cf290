"""Kisilevich et al. (2010), kACTUS: how well models learn from k-anonymous tables, and how fast these are made."""
