"""Tests of the make-room objective."""
