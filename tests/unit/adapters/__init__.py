"""Tests of rescheduler.adapters."""
