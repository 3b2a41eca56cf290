"""Collections: documents as vectors, released so that none can be told from k - 1 others."""
