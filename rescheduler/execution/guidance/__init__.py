"""Leads pods to the nodes that a plan names: holds, gates and taints."""
