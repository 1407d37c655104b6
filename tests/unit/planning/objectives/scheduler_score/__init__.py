"""Tests of ``planning/objectives/scheduler_score/``."""
