"""Tests of ``cli/commands/acting/``."""
