"""Tests of ``execution/guidance/``."""
