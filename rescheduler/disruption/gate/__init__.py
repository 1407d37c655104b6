"""The gate: what lets one eviction after the other through, and what shuts it for all."""
