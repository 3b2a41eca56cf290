"""Where rows live and tasks run when they do not fit into memory: adapters with a tiny surface, and nothing statistical in them."""
