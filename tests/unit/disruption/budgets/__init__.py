"""Tests of the policy's own disruption budgets."""
