"""Tests of making room for large shapes."""
