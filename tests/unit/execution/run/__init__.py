"""Tests of ``execution/run/``."""
