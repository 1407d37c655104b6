"""The daemon's REST API: its routes, its documents, and what stands before them."""
