"""Tests of ``batch/backtest/replay/``."""
