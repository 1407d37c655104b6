"""Tests of ``model/usage/``."""
