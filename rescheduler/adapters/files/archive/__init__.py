"""An archive of snapshots: whole files that never change; those of an hour are differences from one pool."""
