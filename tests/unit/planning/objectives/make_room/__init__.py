"""Tests of ``planning/objectives/make_room/``."""
