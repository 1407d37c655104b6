"""Tests of windows and trust."""
