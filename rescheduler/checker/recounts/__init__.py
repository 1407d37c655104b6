"""For each objective of a policy, a second count of what a plan reaches."""
