"""Tests of ``daemon/page/``."""
