"""Tests of how a DeschedulerPolicy is carried out."""
