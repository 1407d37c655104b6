"""Tests of rescheduler.execution."""
