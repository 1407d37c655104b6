"""Names and texts of a cluster made safe to show: no control character, no mark that turns text round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

LONGEST_SHOWN: Final = 120
LONGEST_REPEATED: Final = 60


def printable(text: str, limit: int | None = None) -> str:
    r"""The text with every character that does not print written as an escape (``\x1b``, ``\u202e``).

    Line breaks, terminal codes and marks of writing direction among them. Cut to ``limit`` characters where one is
    given.
    """
    piece = text if limit is None else text[:limit]
    safe = piece if piece.isprintable() else "".join(map(_escaped, piece))
    return safe + ("..." if len(piece) < len(text) else "")


def _escaped(character: str) -> str:
    return character if character.isprintable() else ascii(character)[1:-1]


def shortened(text: str, longest: int = LONGEST_SHOWN) -> str:
    """The same for texts from outside, whose length nobody has bounded: cut to ``longest`` characters."""
    return printable(text if len(text) <= longest else text[: longest - 1] + "…")


def in_one_line(message: object) -> str:
    """A message, such as an error's, without its line breaks."""
    return " ".join(str(message).split())


def first_few(names: Sequence[str], most: int, joint: str = ", ", last: str = " and ") -> str:
    """``a, b and 4 more``: the first ``most`` of them, and how many more there are. ``last``: before that number."""
    more = len(names) - most
    return joint.join(names[:most]) + (f"{last}{more} more" if more > 0 else "")


def shown(value: Any) -> str:
    """A value as a message repeats it, short: texts in quotes, lists and maps by their kind only."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return repr(printable(value, LONGEST_REPEATED))
    if isinstance(value, Mapping):
        return "a map"
    return "a list" if isinstance(value, list | tuple) else printable(str(value), LONGEST_REPEATED)
