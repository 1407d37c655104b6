"""Metrics providers, one file each behind ``MetricsProvider``."""
