"""Tests of ``adapters/kubernetes/rights/``."""
