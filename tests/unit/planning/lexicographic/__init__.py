"""Tests of ``planning/lexicographic/``."""
