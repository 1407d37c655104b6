"""Tests of ``cli/commands/``."""
