"""Words, WordNet and search: what documents and collections share."""
