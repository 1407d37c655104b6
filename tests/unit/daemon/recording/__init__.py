"""Tests of ``daemon/recording/``."""
