"""Moves without downtime, and pods that their owners move."""
