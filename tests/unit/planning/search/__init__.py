"""Tests of ``planning/search/``."""
