"""Carries out what a DeschedulerPolicy chose, through our gate, executor and ledger.

Its moves promise no destination; what would leave a replacement waiting is not sent.
"""
