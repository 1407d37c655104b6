"""Empties a large set of nodes at once, on arrays: all their pods are seated together."""
