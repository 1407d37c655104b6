"""Tests of ``planning/objectives/``."""
