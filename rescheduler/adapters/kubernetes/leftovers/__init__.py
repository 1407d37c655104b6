"""What earlier runs left behind: found, and taken away."""
