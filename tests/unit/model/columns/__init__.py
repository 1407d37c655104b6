"""Tests of ``model/columns/``."""
