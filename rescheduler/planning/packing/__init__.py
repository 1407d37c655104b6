"""Placing as many pods as possible, the more important first, when all may be moved or evicted; pure on arrays."""
