"""Tests of ``planning/problem/``."""
