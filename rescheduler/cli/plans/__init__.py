"""Plans at the command line: descheduler's, read back from a file, asked for again, or of cheaper machines."""
