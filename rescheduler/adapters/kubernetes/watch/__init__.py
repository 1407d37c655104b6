"""Watching: what the cluster holds, kept up to date by the API server's own words."""
