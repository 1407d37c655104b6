"""Make room: pending pods get a place by the fewest evictions, with a proof. Start reading at ``objective.py``."""
