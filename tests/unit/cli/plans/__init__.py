"""Tests of ``cli/plans/``."""
