"""Tests of relieving hot nodes."""
