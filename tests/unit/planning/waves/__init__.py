"""Tests of ``planning/waves/``."""
