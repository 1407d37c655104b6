"""The page at the daemon's address: what is looked at, what is said of it, and who sees how much."""
