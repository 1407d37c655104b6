"""Tests of ``daemon/api/``."""
