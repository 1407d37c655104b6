"""Tests of ``cycle.py``."""
