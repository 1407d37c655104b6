"""The policy files of descheduler, and both of them on one cluster."""
