"""Tests of ``checker/recounts/``."""
