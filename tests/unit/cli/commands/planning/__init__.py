"""Tests of ``cli/commands/planning/``."""
