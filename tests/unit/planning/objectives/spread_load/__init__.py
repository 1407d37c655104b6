"""Tests of ``planning/objectives/spread_load/``."""
