"""Tests of the embedded cluster's components."""
