"""Tests of ``adapters/kubernetes/objects/pods/``."""
