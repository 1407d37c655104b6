"""Tests of the parts that put concrete classes together."""
