"""Tests of ``costs/``."""
