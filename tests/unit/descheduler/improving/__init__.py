"""DeschedulerPolicies: reading, the walk, and where victims land."""
