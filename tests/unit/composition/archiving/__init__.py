"""Tests of ``composition/archiving/``."""
