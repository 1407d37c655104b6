"""Tests of ``policy/reading/``."""
