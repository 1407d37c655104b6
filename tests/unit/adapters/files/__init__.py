"""Tests of ``adapters/files/``."""
