"""Tests of pods that whoever owns them moves."""
