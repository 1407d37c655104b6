"""Tests of rescheduler/planning/fault_domains."""
