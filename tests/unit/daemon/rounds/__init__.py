"""Tests of ``daemon/rounds/``."""
