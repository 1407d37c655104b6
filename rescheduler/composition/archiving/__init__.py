"""Recording into an archive: what of a cluster, of files and of load comes into it."""
