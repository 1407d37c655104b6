"""Tests of ``adapters/kubernetes/objects/``."""
