"""Files: recordings of clusters and of load, and what this machine remembers in sqlite."""
