"""The commands, one file each: arguments, output, exit codes."""
