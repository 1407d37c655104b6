"""Placing many pods in a row, with numpy and compiled: what a planner would gain that has no use for it today."""
