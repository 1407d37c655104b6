"""Tests of ``engine/``."""
