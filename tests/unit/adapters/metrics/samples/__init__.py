"""Tests of ``adapters/metrics/samples/``."""
