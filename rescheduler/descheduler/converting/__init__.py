"""Turns a DeschedulerPolicy into the ReschedulerPolicy that comes nearest, each setting with what became of it.

What the file says is carried over where there is a counterpart; where it says nothing, our careful default stays.
"""
