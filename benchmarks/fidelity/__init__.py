"""Fidelity: what our scheduler model foretells, beside what the real kube-scheduler does."""
