"""The independent checker: re-proves a plan; its predicates and counts are its own on purpose, shared with nobody."""
