"""Tests of ``daemon/autoscaler/``."""
