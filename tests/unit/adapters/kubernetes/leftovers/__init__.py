"""Tests of ``adapters/kubernetes/leftovers/``."""
