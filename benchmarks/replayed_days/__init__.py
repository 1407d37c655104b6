"""A replay told the truth: two days of a cluster, compressed, as foretold and as a real control plane plays them."""
