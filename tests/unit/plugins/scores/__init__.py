"""Tests of plugins/scores."""
