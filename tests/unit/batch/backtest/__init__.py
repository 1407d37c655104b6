"""Tests of ``batch/backtest/``."""
