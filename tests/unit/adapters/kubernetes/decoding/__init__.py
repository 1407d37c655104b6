"""Tests of decoding API objects."""
