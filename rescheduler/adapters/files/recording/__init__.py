"""Recordings of a cluster: read what kubectl prints, with suspicion; write what is needed, slim."""
