"""A cluster in memory behind the same protocols, with its own clock."""
