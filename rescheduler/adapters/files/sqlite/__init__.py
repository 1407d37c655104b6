"""What this machine remembers over a restart: evictions, and samples of load."""
