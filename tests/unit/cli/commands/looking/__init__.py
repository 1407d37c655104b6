"""Tests of ``cli/commands/looking/``."""
