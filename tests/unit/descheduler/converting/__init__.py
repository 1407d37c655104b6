"""Tests of conversion."""
