"""Tests of what writes to a live cluster, against an API server that answers from a script."""
