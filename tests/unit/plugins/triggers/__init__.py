"""When triggers ask for a round, and when they do not."""
