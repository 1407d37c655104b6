"""Improving a placement move by move, whatever the objective."""
