"""Versions of objects as the API server counts them: opaque by contract, numbers where etcd writes them."""

from __future__ import annotations

from typing import Final

MOST_DIGITS: Final = 19
"""Of a count of 64 bits; what is longer is none of etcd's, and could take for ever to read."""


def number_of(version: str) -> int | None:
    """A version as a number; None where it is none."""
    return int(version) if version.isascii() and version.isdigit() and len(version) <= MOST_DIGITS else None
