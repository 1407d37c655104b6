"""What each account may write, tried with its own token."""
