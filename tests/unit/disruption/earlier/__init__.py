"""Tests of what earlier evictions forbid."""
