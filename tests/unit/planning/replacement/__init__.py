"""Tests of the choice of machines."""
