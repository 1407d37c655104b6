"""More than forty deliberate bugs, each of which the simulated runs have to find: who checks the checkers."""
