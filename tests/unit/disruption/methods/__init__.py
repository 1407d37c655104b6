"""Tests of the ways in which a pod may be moved."""
