"""What is read of a real cluster, and what a newcomer does first."""
