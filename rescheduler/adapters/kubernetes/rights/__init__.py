"""Who may do what: rights that are needed, rights that are there, and whose token it is."""
