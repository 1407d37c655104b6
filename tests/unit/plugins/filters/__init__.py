"""Tests of plugins/filters."""
