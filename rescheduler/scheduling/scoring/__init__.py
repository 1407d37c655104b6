"""What scores share: how points are normalised, what would be in use, and what load is reckoned with."""
