"""Tests mirror the package; builders before mocks."""
