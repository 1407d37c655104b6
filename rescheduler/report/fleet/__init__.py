"""A fleet's plans told as a table; all that is told stands in the document."""
