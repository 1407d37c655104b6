"""Requests to the API server: authentication, limits, what became of each, and errors for people."""
