"""Tests of ``cli/commands/archives/``."""
