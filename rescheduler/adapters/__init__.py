"""All input and output: the API server, files, the clock."""
