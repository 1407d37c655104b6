"""One small file a command: reads arguments, prints reports, sets exit codes."""
