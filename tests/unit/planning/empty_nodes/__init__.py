"""Tests of emptying nodes."""
