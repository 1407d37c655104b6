"""How kernels are compiled, and where they are kept between processes; importing this module needs numba.

Nothing compiled calls itself; the interpreter's lock is released.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import numba

_settings: Any = numba.config
Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel, **options: Any) -> Kernel:
    """A kernel that is compiled when it is first called, or read from disk if a process compiled the same before."""
    # Division by zero does not occur; numpy's model leaves its check out. Floating point is never reordered.
    options = {"error_model": "numpy", "nogil": True, **options}
    place = kept_in(Path(kernel.__code__.co_filename).parent)
    before = _settings.CACHE_DIR
    _settings.CACHE_DIR = str(place or "")  # looked at when a kernel is declared
    try:
        made: Kernel = numba.njit(cache=place is not None, **options)(kernel)
    finally:
        _settings.CACHE_DIR = before
    return made


inlined = numba.njit(error_model="numpy", inline="always")


@cache
def kept_in(folder: Path) -> Path | None:
    """Where the compiled kernels of a folder are kept; None: in memory only, since no place may be written to.

    The name is made of all that stands in the folder: numba looks at the file of one kernel only, which holds kernels
    and constants of the files beside it. Places: NUMBA_CACHE_DIR, beside the modules, the user's cache.
    """
    contents = sha256()
    for file in sorted(folder.glob("*.py")):
        contents.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    own = os.environ.get("NUMBA_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    for place in (own,) if own else (folder / "__pycache__", f"{user}/rescheduler"):
        try:
            wanted = Path(place).expanduser() / f"kernels-{contents.hexdigest()[:16]}"
            wanted.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=wanted).close()
        except (OSError, RuntimeError):  # not to be written to; nobody's home
            continue
        return wanted
    return None
