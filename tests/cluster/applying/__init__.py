"""Plans that are carried out by hand, and what changes on the way."""
