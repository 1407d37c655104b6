"""Reads policy files strictly: every problem at once, each with its place."""
