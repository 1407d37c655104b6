"""Tests of ``adapters/metrics/http/``."""
