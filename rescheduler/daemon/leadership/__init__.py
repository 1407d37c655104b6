"""Leader election: one of several daemons may act."""
