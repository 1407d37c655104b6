"""Snapshots with load that a daemon keeps for back-tests; whatever goes wrong with that, the daemon goes on."""
