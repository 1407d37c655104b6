"""The daemon for a long time on a cluster that changes under it: every trigger, memory, each eviction accounted for."""
