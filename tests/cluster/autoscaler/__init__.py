"""Beside an autoscaler that is played; the real one has a room of its own."""
