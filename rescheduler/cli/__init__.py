"""Commands: read arguments, print reports, give exit codes; one small file a command."""
