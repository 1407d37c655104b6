"""Reads of a live cluster by request: all that a snapshot is made of, and the single objects that stand beside it."""
