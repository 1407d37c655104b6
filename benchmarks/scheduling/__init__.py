"""Benchmark: how long the predicted scheduler takes, plain, with numpy, and compiled."""
