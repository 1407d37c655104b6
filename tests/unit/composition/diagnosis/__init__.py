"""Tests of ``composition/diagnosis/``."""
