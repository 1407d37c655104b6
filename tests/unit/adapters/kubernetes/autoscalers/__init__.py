"""Tests of ``adapters/kubernetes/autoscalers/``."""
