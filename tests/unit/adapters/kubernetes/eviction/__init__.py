"""Tests of ``adapters/kubernetes/eviction/``."""
