"""Warnings of one reading, few enough to be read."""

from __future__ import annotations

from typing import Final

_MOST: Final = 50


class Warnings:
    """Keeps the first warnings and counts the rest."""

    def __init__(self) -> None:
        """Start empty."""
        self._kept: list[str] = []
        self._left_out = 0

    def add(self, text: str) -> None:
        """Take note of one; the same text counts once while it is among those kept."""
        if text in self._kept:
            return
        if len(self._kept) < _MOST:
            self._kept.append(text)
        else:
            self._left_out += 1

    def told(self) -> tuple[str, ...]:
        """All that were kept, and how many were not."""
        rest = (f"and {self._left_out} more warnings like these",) if self._left_out else ()
        return (*self._kept, *rest)
