"""Empties nodes by seating their pods and those of a few others anew, many times."""
