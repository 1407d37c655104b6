"""Tests of ``planning/objectives/separate_antagonists/``."""
