"""The objectives that a policy can name, one folder each."""
