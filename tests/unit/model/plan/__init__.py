"""Tests of ``model/plan/``."""
