"""What earlier evictions forbid, put off or still keep room for."""
