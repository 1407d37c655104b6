"""Tests of ``scheduling/scoring/``."""
