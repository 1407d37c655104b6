"""What can be plugged in: filters and scores."""
