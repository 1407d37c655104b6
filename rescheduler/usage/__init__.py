"""Windows of measured use, and what may be trusted of them; pure on arrays, through protocols only."""
