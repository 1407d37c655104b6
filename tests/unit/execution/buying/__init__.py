"""Tests of machines that are made before a plan."""
