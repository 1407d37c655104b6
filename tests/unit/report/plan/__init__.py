"""Tests of ``report/plan/``."""
