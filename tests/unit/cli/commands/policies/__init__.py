"""Tests of ``cli/commands/policies/``."""
