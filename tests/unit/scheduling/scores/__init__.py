"""Tests of ``scheduling/scores/``."""
