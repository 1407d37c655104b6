"""The line between a process under test and the world: every call crosses here, is told, and may go wrong."""
