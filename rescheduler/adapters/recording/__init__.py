"""Recordings of a cluster: files of API objects, read with suspicion, written slim."""
