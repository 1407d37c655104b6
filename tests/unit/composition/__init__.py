"""Tests of ``composition/``."""
