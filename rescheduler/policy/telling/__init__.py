"""What a policy does, in sentences and as schema."""
