"""The only place that imports OR-Tools."""
