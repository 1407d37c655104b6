"""Tests of one eviction."""
