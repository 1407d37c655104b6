"""How files of an archive are called, and how one of its snapshots is named: ``DIR@TIME``."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from rescheduler.model.times import read_time

HOUR_SECONDS: Final = 3600
SNAPSHOT: Final = ".snapshot"
POOL: Final = ".pool"
_SNAPSHOT_NAME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)Z\.([0-9a-f]{12})\.snapshot", re.ASCII)
_POOL_NAME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\dZ\.[0-9a-f]{12}\.pool", re.ASCII)
_ARCHIVED: Final = re.compile(
    r"(.+)@(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d))", re.DOTALL | re.ASCII
)


class ArchivedName(NamedTuple):
    """One snapshot of an archive; ``time`` in whole seconds since the epoch."""

    archive: str
    time: int


class SnapshotFile(NamedTuple):
    """What the name of a snapshot's file tells: its time, and the pool that it is a difference from."""

    name: str
    time: int
    pool: str


def archived_name(filename: str) -> ArchivedName | None:
    """What ``DIR@TIME`` names; None for the name of a file."""
    match = _ARCHIVED.fullmatch(filename)
    time = read_time(match[2]) if match else None
    if match is None or time is None or ("://" not in match[1] and Path(filename).exists()):
        return None
    return ArchivedName(match[1], int(time // 1))


def written_time(time: float) -> str:
    """RFC 3339 in UTC, to the second."""
    return datetime.fromtimestamp(int(time // 1), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def pool_name(time: int, digest: str) -> str:
    """The file of a pool, by its hour and its content."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H}Z.{digest[:12]}{POOL}"


def snapshot_name(time: int, pool: str) -> str:
    """The file of a snapshot that is a difference from a pool of its hour."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H-%M-%S}Z.{pool.split('.')[1]}{SNAPSHOT}"


def snapshot_file(name: str) -> SnapshotFile | None:
    """What a name tells; None for a file that is no snapshot."""
    match = _SNAPSHOT_NAME.fullmatch(name)
    time = read_time(f"{match[1]}:{match[2]}:{match[3]}Z") if match else None
    return None if match is None or time is None else SnapshotFile(name, int(time), f"{match[1]}Z.{match[4]}{POOL}")


def is_pool(name: str) -> bool:
    """Whether a file is called as a pool is."""
    return _POOL_NAME.fullmatch(name) is not None
