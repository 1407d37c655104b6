"""Patterns of nodes: who leaves a node and who arrives, with the room that evicted pods need elsewhere."""
