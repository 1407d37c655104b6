"""Moves by whoever owns the pod: he is asked once, by an eviction that he answers himself, and what he does is told."""
