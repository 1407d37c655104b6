"""From problem to ordered moves; pure."""
