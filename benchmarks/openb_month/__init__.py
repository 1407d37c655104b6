"""A month of openb's arrivals as an archive, and four policies asked about it."""
