"""One history carried on over an archive: its moves stay, arrivals and departures come from the archive."""
