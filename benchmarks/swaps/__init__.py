"""Pods of two full nodes that change places, by each mode."""
