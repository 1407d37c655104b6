"""Tests of ``adapters/files/recording/``."""
