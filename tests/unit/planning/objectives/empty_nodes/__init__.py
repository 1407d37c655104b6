"""Tests of ``planning/objectives/empty_nodes/``."""
