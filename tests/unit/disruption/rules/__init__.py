"""Tests of the single rules of eligibility."""
