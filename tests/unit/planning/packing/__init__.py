"""Tests of packing by priority."""
