"""One round of the daemon, the world it acts on, and what has to be calm before it acts."""
