"""Risk: passages that tell too much, general words for them, and what an intruder still gets."""
