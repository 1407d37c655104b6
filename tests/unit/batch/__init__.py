"""Tests of ``batch/``."""
