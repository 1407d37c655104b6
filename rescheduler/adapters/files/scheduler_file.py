"""The text of a scheduler's own configuration, from a file that an operator names."""

from __future__ import annotations

from pathlib import Path
from typing import Final

LARGEST_BYTES: Final = 256 * 1024
"""A larger text configures no scheduler; a ConfigMap holds 1 MiB at most."""


class UnreadableFileError(Exception):
    """Why a file gives no text, as the end of a sentence that begins with the file.

    ``start``: how a file begins that is too large.
    """

    def __init__(self, text: str, start: str = "") -> None:
        super().__init__(text)
        self.start = start


def read_text(name: str) -> str:
    """The whole text of a file. Raises UnreadableFileError."""
    try:
        path = Path(name)
        if path.exists() and not path.is_file():
            raise UnreadableFileError("is no file; name one that holds a scheduler's configuration")
        with path.open("rb") as stream:
            found = stream.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise UnreadableFileError(f"cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a name with a zero byte
        raise UnreadableFileError(f"cannot be read: {error}") from error
    if len(found) > LARGEST_BYTES:
        start = found.decode("utf-8", "replace")
        raise UnreadableFileError(f"is larger than {LARGEST_BYTES // 1024} KiB; no scheduler's configuration is", start)
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFileError(f"is no UTF-8 text (byte {error.start})") from error
