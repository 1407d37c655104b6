"""Tests of ``model/objects/``."""
