"""Tests of ``backtest/``."""
