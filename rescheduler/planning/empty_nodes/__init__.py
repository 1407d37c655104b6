"""Emptying nodes: which nodes, by how few moves, and in which order; pure on arrays."""
