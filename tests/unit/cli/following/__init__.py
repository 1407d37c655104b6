"""Tests of ``cli/following/``."""
