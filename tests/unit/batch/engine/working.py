"""Work for engines, of the kinds that there are: quick, faulty, deadly; and an engine without processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

from rescheduler.batch.engine.tasks import Done, Engine, Work, attempt
from rescheduler.extension_points import ReschedulerError


class Here(Engine):
    """Does every task in this process, one after the other."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def run(self, work: Work, tasks: Mapping[str, bytes]) -> Iterator[Done]:
        """All of them."""
        for key, task in tasks.items():
            self.asked.append(key)
            yield attempt(work, key, task)


def doubled(task: bytes) -> bytes:
    """Quick."""
    return task + task


def faulty(task: bytes) -> bytes:
    """Fails on ``bad``, and notes each call in the file that the task names."""
    name, _, path = task.partition(b"@")
    with Path(path.decode()).open("a") as notes:
        notes.write(name.decode() + "\n")
    if name == b"bad":
        raise ReschedulerError("it was bad")
    return name


def deadly(task: bytes) -> bytes:
    """Kills its process on ``deadly``, and notes each call."""
    name, _, path = task.partition(b"@")
    with Path(path.decode()).open("a") as notes:
        notes.write(name.decode() + "\n")
    if name == b"deadly":
        os.kill(os.getpid(), signal.SIGKILL)
    return name


def hungry(task: bytes) -> bytes:
    """Takes as many megabytes as the task says."""
    return str(len(bytearray(int(task) * 2**20))).encode()
