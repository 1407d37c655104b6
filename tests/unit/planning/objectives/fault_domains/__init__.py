"""Tests of ``planning/objectives/fault_domains/``."""
