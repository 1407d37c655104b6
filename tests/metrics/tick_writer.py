"""A process that makes others, each of which appends ticks to a store until it is killed.

``python -m tests.metrics.tick_writer STORE ACKNOWLEDGED``: each line on standard input starts one and prints its
process number, then how it ended. A tick is acknowledged by its number, written after ``append`` returned.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import numpy as np

from rescheduler.adapters.files.sqlite.usage_store import SqliteUsageStore
from rescheduler.model.usage.samples import NODE_METRICS, NodeSamples
from tests.builders import NOW

KEPT_TICKS: Final = 40
INTERVAL: Final = 15.0
_NODES: Final = 40


def numbered_tick(number: int) -> NodeSamples:
    """The tick of this number, always the same; nodes change now and then."""
    random = np.random.default_rng(number)
    nodes = tuple(f"node-{at + number // 30}" for at in range(_NODES))
    values = {metric: random.random((1, _NODES)) for metric in NODE_METRICS}
    time = NOW + INTERVAL * number
    return NodeSamples(
        nodes, np.array([time]), values, time - 10 * random.random((1, _NODES)), tuple("u" + n for n in nodes)
    )


def number_of(time: float) -> int:
    """The number of the tick taken at this time."""
    return round((time - NOW) / INTERVAL)


def open_store(path: Path) -> SqliteUsageStore:
    """The store under test; whatever it has to say is an error here."""
    return SqliteUsageStore(
        path, keep_seconds=INTERVAL * (KEPT_TICKS - 1), interval_seconds=INTERVAL, now=NOW, tell=_fail
    )


def append_until_killed(path: Path, acknowledged: Path) -> None:
    """Go on where the last one was killed."""
    store = open_store(path)
    found = store.restore(float("-inf"))
    number = number_of(float(found[-1].times[-1])) + 1 if found else 0
    acknowledgements = os.open(acknowledged, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    while True:
        store.append(numbered_tick(number))
        os.write(acknowledgements, f"{number}\n".encode())
        number += 1


def main(path: Path, acknowledged: Path) -> None:
    """Start a writer for each line."""
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                append_until_killed(path, acknowledged)
            finally:
                os._exit(1)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _fail(text: str) -> None:
    raise AssertionError(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
