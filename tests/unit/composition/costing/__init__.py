"""Tests of ``composition/costing/``."""
