"""Tests of ``policy/telling/``."""
