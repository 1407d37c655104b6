"""Tests of ``composition/load/``."""
