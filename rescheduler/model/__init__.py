"""The cluster as frozen data: no I/O, no clock, no randomness."""
