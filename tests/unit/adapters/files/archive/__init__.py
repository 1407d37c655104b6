"""Tests of the archive of snapshots."""
