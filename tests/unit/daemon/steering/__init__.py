"""Tests of ``daemon/steering/``."""
