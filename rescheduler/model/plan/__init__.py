"""A plan, what it may disturb, and the cluster that it is imagined on."""
