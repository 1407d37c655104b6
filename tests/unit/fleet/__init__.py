"""Tests of ``fleet/``."""
