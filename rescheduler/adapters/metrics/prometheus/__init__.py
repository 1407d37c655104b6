"""Prometheus and all that answer like it."""
