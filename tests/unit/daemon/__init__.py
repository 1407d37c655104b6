"""Tests of what runs without a person."""
