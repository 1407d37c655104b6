"""What autoscalers say, and what is asked of them."""
