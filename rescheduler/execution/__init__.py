"""Carries a plan out wave by wave on a live or simulated cluster, through protocols only, and checks the result."""
