"""Tests of ``backtest/replay/``."""
