"""Whether what is foretold is what the real components do."""
