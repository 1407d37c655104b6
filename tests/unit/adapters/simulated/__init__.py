"""Tests of ``adapters/simulated/``."""
