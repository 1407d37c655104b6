"""Measured load for each command: from providers, a recording, a watcher, or collected while the daemon runs."""
