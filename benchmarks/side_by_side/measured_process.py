"""Runs a command and writes what it took: `python measured_process.py REPORT SECONDS COMMAND...`.

A process of its own, and a small one: the peak memory that the kernel reports of a child cannot be less than that of
the process which started it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path


def main() -> int:
    """Run, measure, and end with the command's own exit code, or 124 where its time was over."""
    report, seconds, *command = sys.argv[1:]
    begun = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child has got it too, and ends by itself
    signal.setitimer(signal.ITIMER_REAL, float(seconds))
    _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - begun
    code = os.waitstatus_to_exitcode(status)
    found = {
        "wallSeconds": round(wall, 3),
        "cpuSeconds": round(usage.ru_utime + usage.ru_stime, 3),
        "peakMegabytes": round(usage.ru_maxrss / 1024, 1),
    }
    Path(report).write_text(json.dumps(found))
    return 124 if code == -signal.SIGKILL and wall >= float(seconds) else code & 0xFF


if __name__ == "__main__":
    sys.exit(main())
