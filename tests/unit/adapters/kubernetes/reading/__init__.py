"""Tests of ``adapters/kubernetes/watch/``."""
