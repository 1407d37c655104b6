"""Tests of ``adapters/kubernetes/guidance/``."""
