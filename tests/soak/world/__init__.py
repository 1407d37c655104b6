"""The simulated world: its cluster, the components that keep it, how it begins, and what is true of it."""
