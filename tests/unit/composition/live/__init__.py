"""Tests of ``composition/live/``."""
