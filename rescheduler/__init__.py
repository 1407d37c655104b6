"""Moves running pods to better nodes, when the gain is worth the disturbance."""

__version__ = "0.1.0"
