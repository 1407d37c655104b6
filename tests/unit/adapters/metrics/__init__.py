"""Tests of ``adapters/metrics/``."""
