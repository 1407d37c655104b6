"""Tests of ``batch/engine/``."""
