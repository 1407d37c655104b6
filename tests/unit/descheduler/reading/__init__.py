"""Tests of what reads a DeschedulerPolicy."""
