"""Tests of ``adapters/files/sqlite/``."""
