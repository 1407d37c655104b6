"""Nodes emptied at every budget of evictions, beside baselines and a judge."""
