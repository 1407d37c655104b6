"""How a pod may be moved: evicted, by surge, or by itself."""
