"""Moves without downtime: the replacement is Ready before the old pod is evicted, or the old pod is given back."""
