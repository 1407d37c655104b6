"""Tests of ``daemon/serving/``."""
