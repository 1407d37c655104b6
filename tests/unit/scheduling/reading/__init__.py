"""Tests of reading schedulers' own configuration."""
