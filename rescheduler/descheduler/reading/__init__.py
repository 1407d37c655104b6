"""Reads a DeschedulerPolicy as descheduler and its libraries do: `policy_file.py` is the door."""
