"""Tests of ``policy/fields/``."""
