"""What a DeschedulerPolicy does, and what of it comes to nothing, in sentences."""
