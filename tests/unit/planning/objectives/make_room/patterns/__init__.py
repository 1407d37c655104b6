"""Patterns of nodes."""
