"""Tests of rescheduler/planning/antagonists."""
