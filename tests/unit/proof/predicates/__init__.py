"""Tests of the checker's own predicates."""
