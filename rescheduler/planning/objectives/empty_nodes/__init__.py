"""Emptying nodes: which nodes, by how few moves, and in which order; pure on arrays.

The objective itself is ``objective.plan_empty_nodes``; the other parts work on arrays alone.
"""
