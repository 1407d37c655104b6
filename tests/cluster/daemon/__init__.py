"""The daemon: rounds, triggers, leaders, approval, its page."""
