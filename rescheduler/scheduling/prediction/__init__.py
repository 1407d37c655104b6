"""The predicted scheduler beside filters and scores: its sample of nodes, nominations, entanglement, its verdict."""
