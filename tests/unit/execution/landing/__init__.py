"""Tests of what becomes of moved pods."""
