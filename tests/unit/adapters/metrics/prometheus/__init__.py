"""Tests of ``adapters/metrics/prometheus/``."""
