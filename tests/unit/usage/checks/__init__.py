"""Tests of the checks of usage, one file a check."""
