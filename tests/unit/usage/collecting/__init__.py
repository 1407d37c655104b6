"""Tests of collecting samples."""
