"""One plan on its way: its waves, its evictions, and what is waited for."""
