"""One map of a scheduler's own configuration file, read field by field as its scheduler reads it."""
