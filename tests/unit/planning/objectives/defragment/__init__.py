"""Tests of ``planning/objectives/defragment/``."""
