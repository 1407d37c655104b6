"""Tests of the objective SchedulerScore."""
