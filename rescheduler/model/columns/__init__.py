"""The cluster as arrays: nodes and pods are indices here, and in what works on these arrays only."""
