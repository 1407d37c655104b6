"""Benchmark: how long a plan takes to be carried out on a real control plane, and what it asks of the API server."""
