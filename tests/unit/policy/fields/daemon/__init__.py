"""Tests of ``policy/fields/daemon/``."""
