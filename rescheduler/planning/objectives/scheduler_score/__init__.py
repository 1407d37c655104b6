"""Moves pods to nodes that their own scheduler scores clearly higher than those they are on."""
