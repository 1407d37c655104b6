"""The policy in force while a daemon runs, and one that waits for somebody's word."""
