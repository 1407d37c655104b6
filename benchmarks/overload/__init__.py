"""Overload above a target under a budget of evictions."""
