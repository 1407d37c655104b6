"""Violations of spread and affinity that arose after pods were placed are repaired."""
