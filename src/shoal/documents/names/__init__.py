"""Names: which ways of writing one belong to the same entity, and what stands in its place."""
