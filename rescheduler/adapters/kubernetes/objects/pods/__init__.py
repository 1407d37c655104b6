"""Pods, the largest of the objects: decoded, and each part made explicit."""
