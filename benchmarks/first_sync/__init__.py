"""The first sync of a mirror with a large cluster on a real API server."""
