"""The independent checker: re-proves a plan with predicates of its own."""
