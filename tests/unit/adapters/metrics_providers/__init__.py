"""Tests of metrics providers on recorded answers."""
