"""Tests of ``daemon/leadership/``."""
