"""What is written down of evictions before and after each is sent."""
