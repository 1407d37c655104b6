"""Ours beside kubernetes-sigs/descheduler: real binaries, real control plane, the same clusters."""
