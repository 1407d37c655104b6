"""Tests of ``daemon/policies/``."""
