"""How replacements come to their planned nodes."""
