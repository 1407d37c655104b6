"""Plugins for rescheduler, one class a file; ``pyproject.toml`` lists them."""
