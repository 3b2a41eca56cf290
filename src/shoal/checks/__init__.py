"""Checks: promises counted again on what was written, by code that shares nothing with what made them."""
