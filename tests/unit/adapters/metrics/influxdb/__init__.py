"""Tests of ``adapters/metrics/influxdb/``."""
