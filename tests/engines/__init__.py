"""Tests of engines on real clusters of processes."""
