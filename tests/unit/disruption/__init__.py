"""Tests of what may be disrupted."""
