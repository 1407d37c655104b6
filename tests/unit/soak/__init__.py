"""The checkers of the simulated runs are checked themselves."""
