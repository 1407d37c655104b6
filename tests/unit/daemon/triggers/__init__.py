"""Tests of ``daemon/triggers/``."""
