"""Tests of ``checker/``."""
