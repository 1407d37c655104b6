"""Tests of the search that improves placements."""
