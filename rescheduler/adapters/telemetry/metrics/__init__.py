"""The daemon's metrics for Prometheus: one table of all, counters from notices, gauges asked for."""
