"""Tests of ``adapters/metrics/elasticsearch/``."""
