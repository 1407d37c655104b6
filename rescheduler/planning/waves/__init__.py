"""Moves in an order of which every prefix is possible, and where pods go that nobody leads."""
