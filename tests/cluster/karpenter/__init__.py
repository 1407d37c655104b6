"""A real Karpenter with its own test cloud beside the control plane, and what it must not do because of us."""
