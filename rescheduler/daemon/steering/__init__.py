"""How people steer a daemon: signals, pauses, approvals, and what they are told."""
