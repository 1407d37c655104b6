"""Commands that read a cluster or its measured load."""
