"""Tests of ``adapters/kubernetes/client/``."""
