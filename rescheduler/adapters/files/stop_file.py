"""The kill switch on this machine: a file whose existence stops every eviction."""

from __future__ import annotations

from pathlib import Path

from rescheduler.model.printable import shortened

MOST_BYTES = 400


def stop_file(path: str | None) -> str | None:
    """Why nothing may be evicted: the file's first line; None: there is no such file, or none was named.

    A file that is there and cannot be read stops too: whoever put it there wanted that.
    """
    if path is None:
        return None
    try:
        with Path(path).open("rb") as stream:
            text = stream.read(MOST_BYTES).decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        text = getattr(error, "strerror", None) or str(error)
    reason = shortened(text.partition("\n")[0].strip(), 200) or "no reason given"
    return f"{reason} (file {shortened(path)})"
