"""The audit log as a file: JSON lines that are only ever added; those that matter are on the disk at once."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rescheduler.adapters.telemetry.audit_lines import audit_line, must_last
from rescheduler.adapters.telemetry.listeners import Hear
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.extension_points import Clock, Listener, StoreError
from rescheduler.model.notices import Fault, Notice, PolicyLoaded, Started
from rescheduler.model.printable import shortened

WHERE: Final = "audit"
_FLAGS: Final = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK


class AuditFile(Listener):
    """Writes what is for an audit. May be told from one thread at a time: put it into a ``QueuedListener``.

    A line that cannot be written is told of by a Fault, once until lines can be written again; the number of lines that
    are lacking then stands in the file. A file that was moved away (by a log rotation, say) is begun anew.
    """

    def __init__(
        self,
        where: Callable[[], Path | None],
        clock: Clock,
        tell: Hear,
        *,
        hide: Redaction | None = None,
        write: Callable[[int, bytes], int] = os.write,
    ) -> None:
        """``where``: the file as the policy in force names it, None: none; it may become another one.

        ``tell`` hears of faults; ``write`` is the system's own.
        """
        self._where = where
        self._path = Path()
        self._clock = clock
        self._tell = tell
        self._hide = Redaction() if hide is None else hide
        self._write = write
        self._file: int | None = None
        self._identity = (0, 0)
        self._is_mid_line = False
        self._lacking = 0
        self._policy_id = ""

    def check(self) -> None:
        """Raise StoreError for a file that cannot be written, before anything depends on it."""
        if not self._has_place():
            return
        try:
            self._open()
        except OSError as error:
            raise StoreError(self._problem(error)) from None

    def hear(self, notice: Notice) -> None:
        """Write the line of a notice, if it has one; never raises for what the disk does."""
        if isinstance(notice, Started | PolicyLoaded):
            self._policy_id = notice.policy_id
        line = audit_line(notice, self._policy_id, self._hide)
        if line is None or not self._has_place():
            return
        try:
            self._add(line, lasting=must_last(notice))
        except OSError as error:
            self._lacking += 1
            self._forget()
            if self._lacking == 1:
                self._tell(Fault(self._clock.now(), WHERE, self._problem(error)))

    def close(self) -> None:
        """Let go of the file."""
        self._forget()

    def _has_place(self) -> bool:
        """Whether there is a file to write to by now; another one than before is begun by its next line."""
        path = self._where()
        if path is not None and path != self._path:
            self._forget()
            self._path = path
        return path is not None

    def _add(self, line: bytes, *, lasting: bool) -> None:
        self._open()
        if self._lacking:
            told = b'{"version":1,"who":"rescheduler","what":"lines are lacking","count":%d}\n' % self._lacking
            self._put(told)
            self._lacking = 0
        self._put(line)
        if lasting and self._file is not None:
            os.fsync(self._file)

    def _put(self, line: bytes) -> None:
        """The whole line; after half of one the next begins on a line of its own."""
        assert self._file is not None
        rest = b"\n" + line if self._is_mid_line else line
        while rest:
            written = self._write(self._file, rest)
            if not written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            rest = rest[written:]
            self._is_mid_line = bool(rest)

    def _open(self) -> None:
        """The file under its name, opened anew if another stands there by now. Raises OSError."""
        if self._file is not None and self._identity == _identity(self._path):
            return
        self._forget()
        file = os.open(self._path, _FLAGS, 0o600)
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            os.close(file)
            raise OSError("found a folder, a pipe or a device; wanted a file")
        self._file, self._identity = file, (found.st_dev, found.st_ino)
        self._is_mid_line = found.st_size > 0 and not _ends_a_line(self._path)

    def _forget(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _problem(self, error: OSError) -> str:
        why = error.strerror or str(error)
        return f"the audit log {shortened(str(self._path), 500)} cannot be written: {why}"


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _ends_a_line(path: Path) -> bool:
    """Whether the last line is whole; no, where we may not look: an empty line does no harm."""
    try:
        with path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"
    except OSError:
        return False
