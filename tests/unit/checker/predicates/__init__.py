"""Tests of ``checker/predicates/``."""
