"""Where would the scheduler put this pod? One score a file, 0 to 100."""
