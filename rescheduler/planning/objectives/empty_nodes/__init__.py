"""Emptying nodes: which nodes, by how few moves, and in which order; pure on arrays.

The objective itself is ``objective.EmptyNodes``; the other parts work on arrays alone.
"""
