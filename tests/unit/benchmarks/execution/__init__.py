"""Tests of ``benchmarks/execution/``."""
