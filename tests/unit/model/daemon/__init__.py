"""Tests of ``model/daemon/``."""
