"""Tests of ``adapters/telemetry/metrics/``."""
