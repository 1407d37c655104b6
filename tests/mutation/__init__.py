"""Mutation testing of what decides about evictions: small faults are put in one by one, and tests must find them."""
