"""The ledger in objects of a cluster."""
