"""Tests against real metrics servers."""
