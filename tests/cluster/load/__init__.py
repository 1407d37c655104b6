"""Measured load of a real cluster."""
