"""Runs: whatever walks a flow from an original to a release with the evidence beside it."""
