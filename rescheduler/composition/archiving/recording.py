"""Adds recordings, or a live cluster as it stands, to an archive, and tells what it holds."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.archive.archive_reading import ArchiveListing, list_archive
from rescheduler.adapters.files.archive.archive_source import archive_source
from rescheduler.adapters.files.archive.archive_writing import PLAIN, Added, ArchiveWriter
from rescheduler.adapters.files.archive.recorded_content import content_to_keep, read_content, read_objects
from rescheduler.adapters.files.archive.snapshot_names import written_time
from rescheduler.adapters.files.recording.anonymize import Anonymizer
from rescheduler.adapters.files.recording.sources import name_of
from rescheduler.composition.live.cluster_source import ClusterOptions, connected
from rescheduler.composition.load.metrics import make_providers
from rescheduler.extension_points import Clock, MetricsError, MetricsProvider, Progress, SnapshotError, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.plan.plan import API_VERSION
from rescheduler.model.usage.load_report import LoadReport
from rescheduler.model.usage.samples import MetricsSample
from rescheduler.model.usage.usage_readings import Reading, percent_of
from rescheduler.policy.fields.policy import Policy

_SALT_BYTES: Final = 32
_SHORTEST_SALT: Final = 16


@dataclass(frozen=True)
class ArchiveSettings:
    """Which archive, how long and how much of it is kept, and by which salt its names are replaced (None: by none)."""

    folder: str
    keep_seconds: float | None = None
    most_bytes: int | None = None
    salt: bytes | None = None

    def writer(self) -> ArchiveWriter:
        """Whoever adds to it. Raises SnapshotError."""
        names = PLAIN if self.salt is None else f"anonymised {sha256(b'names' + self.salt).hexdigest()[:16]}"
        return ArchiveWriter(self.folder, names)

    def anonymizer(self) -> Anonymizer | None:
        """Whoever replaces names."""
        return None if self.salt is None else Anonymizer(self.salt)


class Recorder:
    """Adds to one archive and prunes it."""

    def __init__(self, settings: ArchiveSettings, clock: Clock | None = None, progress: Progress = no_progress) -> None:
        """Raises SnapshotError where no archive can be, MixedNamesError where its names are treated otherwise."""
        self._settings = settings
        self._clock = clock or SystemClock()
        self._progress = progress
        self._writer = settings.writer()
        self._writer.refuse_other_names()
        self._anonymizer = settings.anonymizer()

    def add_file(self, filename: str, usage: str | None = None) -> Added:
        """One recording. Raises SnapshotError naming it and its time."""
        stdin = sys.stdin.buffer if filename == "-" else None
        content = read_content(filename, usage, self._anonymizer, stdin, self._progress)
        try:
            return self._writer.add(content, self._clock.now())
        except SnapshotError as error:
            raise SnapshotError(f"{name_of(filename)} ({written_time(content.taken_at)}): {error}") from error

    def add_live(self, where: ClusterOptions, policy: Policy, tell: Callable[[str], None]) -> str:
        """A live cluster as it stands, with load; its time. Raises ClusterError, SnapshotError."""
        from rescheduler.adapters.files.recording.writing import record

        try:
            with tempfile.TemporaryDirectory(prefix="rescheduler-") as folder:
                path = str(Path(folder) / "cluster.json")
                record(connected(where, read_only=True), path, progress=self._progress)
                read = read_objects(path)
        except OSError as error:
            raise SnapshotError(f"{tempfile.gettempdir()}: cannot be written: {error.strerror or error}") from error
        content = content_to_keep(read, measured_now(read.cluster, policy, where, tell), self._anonymizer)
        self._writer.add(content, self._clock.now())
        return written_time(content.taken_at)

    def prune(self) -> int:
        """Remove what is too old or too much; how many snapshots. Raises SnapshotError."""
        if self._settings.keep_seconds is None and self._settings.most_bytes is None:
            return 0
        return self._writer.prune(self._settings.keep_seconds, self._settings.most_bytes)


def salt_of(file: str, archive: str) -> bytes:
    """The salt in a file, which is made if it is not there. Raises SnapshotError, and ValueError for a wrong place."""
    path = Path(file).absolute()
    if Path(archive).absolute().resolve() in (path.resolve(), *path.resolve().parents):
        raise ValueError(f"{file}: lies in the archive; whoever is given that could try names out: keep it elsewhere")
    try:
        if not path.exists():
            _make_salt(path)
        salt = path.read_bytes().strip()
    except OSError as error:
        raise SnapshotError(f"--salt {file}: {error.strerror or error}") from error
    if len(salt) < _SHORTEST_SALT:
        raise ValueError(f"{file}: holds {len(salt)} bytes; wanted {_SHORTEST_SALT} random ones or more")
    return salt


def _make_salt(path: Path) -> None:
    """A whole one or none. Raises OSError."""
    try:
        with open(path, "xb", opener=_private) as stream:
            stream.write(secrets.token_hex(_SALT_BYTES).encode() + b"\n")
    except FileExistsError:
        raise  # somebody else has just made it, and it is theirs
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def listing_of(archive: str, clock: Clock | None = None) -> ArchiveListing:
    """What an archive holds. Raises SnapshotError where there is none."""
    return list_archive(archive_source(archive), (clock or SystemClock()).now())


def archive_document(listing: ArchiveListing) -> dict[str, Any]:
    """A listing for scripts."""
    snapshots = [
        {
            "time": written_time(one.time),
            "files": list(one.files),
            "bytes": one.bytes,
            "nodes": one.nodes,
            "pods": one.pods,
        }
        for one in listing.snapshots
    ]
    return {"apiVersion": API_VERSION, "kind": "Archive", "snapshots": snapshots}


WINDOW_SECONDS = 60.0
"""What one sample stands for."""
_DIGITS = 3  # of a percentage: finer is noise, and cannot be packed
_TYPES = ((CPU, "CPU"), (MEMORY, "Memory"))


def measured_now(
    cluster: Cluster, policy: Policy, where: ClusterOptions, tell: Callable[[str], None]
) -> LoadReport | None:
    """What the first provider that answers says of a cluster that was just read; ``tell`` hears of the others."""
    return report_of(cluster, make_providers(policy, where, tell), tell)


def report_of(cluster: Cluster, providers: Sequence[MetricsProvider], tell: Callable[[str], None]) -> LoadReport | None:
    """The same of providers that are there already."""
    for provider in providers:
        try:
            sample = provider.sample(cluster.nodes, now=cluster.taken_at, with_pods=True)
        except MetricsError as error:
            tell(f"{provider.name}: {error}")
            continue
        end = cluster.taken_at
        return LoadReport(end, end - WINDOW_SECONDS, end, provider.name, _nodes(sample), _pods(sample, cluster))
    return None


def _nodes(sample: MetricsSample) -> Mapping[str, tuple[Reading, ...]]:
    values = sample.nodes.values
    return {
        name: tuple(
            Reading(kind, "Latest", round(100.0 * float(values[resource][-1][at]), _DIGITS))
            for resource, kind in _TYPES
            if resource in values and values[resource][-1][at] == values[resource][-1][at]
        )
        for at, name in enumerate(sample.nodes.nodes)
    }


def _pods(sample: MetricsSample, cluster: Cluster) -> Mapping[str, tuple[Reading, ...]]:
    if sample.pods is None:
        return {}
    found = {}
    for at, key in enumerate(sample.pods.pods):
        written = f"{key.namespace}/{key.name}"
        pod = cluster.pod_by_key.get(written)
        node = cluster.node_by_name.get(pod.node_name or "") if pod is not None else None
        if node is not None:
            capacity = dict(node.capacity or node.allocatable)
            amounts = {resource: float(sample.pods.values[resource][at]) for resource, _ in _TYPES}
            found[written] = tuple(_pod_readings(amounts, capacity))
    return found


def _pod_readings(amounts: Mapping[str, float], capacity: Mapping[str, int]) -> Iterator[Reading]:
    for resource, kind in _TYPES:
        percent = percent_of(amounts[resource], capacity.get(resource, 0))
        if percent == percent:
            yield Reading(kind, "Latest", round(percent, _DIGITS))
