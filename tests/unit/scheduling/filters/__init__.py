"""Tests of ``scheduling/filters/``."""
