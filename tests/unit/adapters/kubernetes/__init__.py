"""Tests of what talks to the API server."""
