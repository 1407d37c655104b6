"""The bytes of a file that a person named; what is no plain file is told, and never waited for."""

from __future__ import annotations

import os
import stat
from pathlib import Path as FilePath

from rescheduler.policy.reading.errors import PolicyError, ReadingProblem


def file_bytes(file: str, most: int, wanted: str, advice: str = "") -> bytes:
    """At most one byte more than ``most``. Raises PolicyError.

    ``wanted``: what is to be named instead, such as "a policy file"; ``advice``: told of a file that there is not.
    """
    if not file:
        raise unusable(file, f"an empty file name; name {wanted}")
    try:
        if FilePath(file).is_fifo() and not file.startswith("/dev/"):  # opening it would wait for a writer for ever
            raise unusable(file, f"a pipe; name {wanted}")
        with FilePath(file).open("rb") as stream:
            if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
                raise unusable(file, f"a device; name {wanted}")
            return stream.read(most + 1)
    except IsADirectoryError:
        raise unusable(file, f"a folder; name {wanted} in it") from None
    except FileNotFoundError as error:
        raise unusable(file, f"cannot be read: {error.strerror}{advice}") from None
    except (OSError, ValueError) as error:
        raise unusable(file, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def unusable(file: str, text: str) -> PolicyError:
    """What is wrong with a file as a whole."""
    return PolicyError([ReadingProblem(file, 0, 0, "", text)])
