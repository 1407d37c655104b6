"""Tests of ``scheduling/prediction/``."""
