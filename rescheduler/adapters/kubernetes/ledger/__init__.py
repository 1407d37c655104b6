"""The ledger in ConfigMaps: one object under compare-and-swap, and numbered ones for evictions that are over."""
