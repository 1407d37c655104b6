"""Runs a command that ends with its parent: `python die_with_parent.py PARENT_PID COMMAND...`."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

SET_PARENT_DEATH_SIGNAL = 1
"""The option PR_SET_PDEATHSIG of Linux's prctl; it survives the exec below."""


def main() -> None:
    """Ask the kernel for a signal at the parent's death, then become the command."""
    parent = int(sys.argv[1])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before the kernel was asked
            sys.exit(1)
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
