"""Relieving nodes that are too full; pure on arrays."""
