"""Bad input of every kind, and what its user sees: an error with its place and the way out, never a traceback."""
