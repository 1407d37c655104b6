"""Tests of moves without downtime."""
