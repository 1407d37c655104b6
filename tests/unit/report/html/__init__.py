"""Tests of the page, piece by piece."""
