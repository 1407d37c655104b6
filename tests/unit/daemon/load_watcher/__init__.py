"""Tests of ``daemon/load_watcher/``."""
