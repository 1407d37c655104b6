"""One writer a file: a lock that the operating system takes back when its holder ends, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from rescheduler.extension_points import StoreError
from rescheduler.model.printable import shortened


class WriterLock:
    """Held from its making until ``release``, on a file beside the one it guards (which readers do not need)."""

    def __init__(self, path: Path) -> None:
        """Take the lock for writing ``path``. Raises StoreError if another process has it, or nobody can."""
        beside = path.with_name(path.name + ".lock")
        about = f"usage store {shortened(str(path), 1000)}"
        try:
            self._descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreError(
                f"{about}: its lock {shortened(beside.name)} cannot be made: {error.strerror}; "
                "wanted a folder that exists and may be written to"
            ) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = shortened(os.read(self._descriptor, 20).decode(errors="replace").strip()) or "unknown"
            os.close(self._descriptor)
            raise StoreError(
                f"{about}: found in use by another process ({holder}); stop that one, or name another file in "
                "usage.store.path"
            ) from error
        self._sign()

    def release(self) -> None:
        """Let others write; the lock's own file stays, since removing it could take another's lock away."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _sign(self) -> None:
        """Leave our number for whoever finds the file locked; a full disk is no reason against having the lock."""
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        except OSError:
            return
