"""What an archive keeps of a recording: what ``snapshot`` would, in one order, and its load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import isfinite
from typing import Any, BinaryIO, NamedTuple

import msgspec

from rescheduler.adapters.files.load_recording import read_load_recording
from rescheduler.adapters.files.recording.anonymize import Anonymizer
from rescheduler.adapters.files.recording.reading import SERVER_VERSION, TAKEN_AT, read_recording
from rescheduler.adapters.files.recording.slim import slim_bytes
from rescheduler.adapters.kubernetes.kinds import KINDS, ObjectKind
from rescheduler.adapters.kubernetes.objects.decoding.pages import decode_object
from rescheduler.extension_points import Progress, SnapshotError, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.times import rfc3339
from rescheduler.model.usage.load_report import LoadReport
from rescheduler.model.usage.usage_readings import Reading

_ORDER = {kind.name: number for number, kind in enumerate(KINDS)}


class ObjectKey(NamedTuple):
    """What an object is told apart by, in the order in which an archive keeps them."""

    kind: int
    namespace: str
    name: str


class RecordedObjects(NamedTuple):
    """A recording as it was read: the cluster, and its objects as they stand there."""

    cluster: Cluster
    objects: tuple[tuple[ObjectKind, bytes], ...]


class RecordedContent(NamedTuple):
    """One snapshot; ``taken_at`` in seconds since the epoch."""

    taken_at: float
    marks: dict[str, str]
    objects: tuple[bytes, ...]
    empty: tuple[str, ...]
    nodes: int
    pods: int
    load: bytes | None

    @property
    def digest(self) -> str:
        """Of all that is kept: equal for equal snapshots."""
        found = sha256(msgspec.json.encode((self.marks, self.empty)))
        for raw in self.objects:
            found.update(raw + b"\n")
        found.update(b"" if self.load is None else self.load)
        return found.hexdigest()


def read_content(
    filename: str,
    usage: str | None = None,
    anonymizer: Anonymizer | None = None,
    stdin: BinaryIO | None = None,
    progress: Progress = no_progress,
) -> RecordedContent:
    """Read a recording, and one of its load, as every command does. Raises SnapshotError."""
    read = read_objects(filename, stdin, progress)
    return content_to_keep(read, None if usage is None else read_load_recording(usage, progress), anonymizer)


def read_objects(filename: str, stdin: BinaryIO | None = None, progress: Progress = no_progress) -> RecordedObjects:
    """Read a recording that tells its time. Raises SnapshotError."""
    found: list[tuple[ObjectKind, bytes]] = []
    cluster = read_recording([filename], stdin, progress, keep=lambda kind, raw: found.append((kind, raw)))
    if not cluster.taken_at:
        raise SnapshotError(f"{cluster.source}: tells no time at all; wanted when it was taken (annotation {TAKEN_AT})")
    return RecordedObjects(cluster, tuple(found))


def content_to_keep(read: RecordedObjects, report: LoadReport | None, anonymizer: Anonymizer | None) -> RecordedContent:
    """What is kept of a recording and its load, with names replaced if there is somebody who replaces them."""
    cluster, found = read
    marks = {TAKEN_AT: rfc3339(cluster.taken_at, "microseconds")}
    if cluster.server_version:
        marks[SERVER_VERSION] = cluster.server_version
    objects = [slim_bytes(kind, decode_object(kind, raw)) for kind, raw in found]
    if anonymizer is not None:
        objects = [anonymizer.anonymized(raw) for raw in objects]
    present = {kind.name for kind, _ in found}
    empty = tuple(kind.name for kind in KINDS if kind.name not in present | cluster.absent_kinds)
    return RecordedContent(
        taken_at=cluster.taken_at,
        marks=marks,
        objects=in_order(objects),
        empty=empty,
        nodes=len(cluster.nodes),
        pods=len(cluster.pods),
        load=None if report is None else _load_text(report, anonymizer),
    )


def in_order(objects: Sequence[bytes]) -> tuple[bytes, ...]:
    """Objects by kind, namespace and name, those that stand twice once."""
    return tuple(sorted(dict.fromkeys(objects), key=lambda raw: (key_of(raw), raw)))


def key_of(raw: bytes) -> ObjectKey:
    """What one of our own slim objects is told apart by."""
    named = _NAMED.decode(raw)
    meta = named.metadata
    return ObjectKey(_ORDER.get(named.kind, len(_ORDER)), meta.namespace or "", meta.name or "")


def _load_text(report: LoadReport, anonymizer: Anonymizer | None) -> bytes:
    """A report of load in the form of GET /watcher."""
    node = (lambda name: name) if anonymizer is None else anonymizer.word
    pod = (lambda name: name) if anonymizer is None else (lambda key: _pod_key(anonymizer, key))
    data: dict[str, Any] = {"NodeMetricsMap": _readings({node(name): found for name, found in report.nodes.items()})}
    if report.pods:
        data["PodMetricsMap"] = _readings({pod(name): found for name, found in report.pods.items()})
    document = {
        "timestamp": report.timestamp,
        "window": {"start": report.window_start, "end": report.window_end},
        "source": report.source,
        "data": data,
    }
    return msgspec.json.encode(document)


def _readings(objects: Mapping[str, Sequence[Reading]]) -> dict[str, Any]:
    return {
        name: {
            "metrics": [
                {"type": one.type, "operator": one.operator, "value": one.value if isfinite(one.value) else None}
                for one in found
            ]
        }
        for name, found in objects.items()
    }


def _pod_key(anonymizer: Anonymizer, key: str) -> str:
    namespace, _, name = key.partition("/")
    return f"{anonymizer.namespace(namespace)}/{anonymizer.word(name)}"


class _Names(msgspec.Struct, gc=False):
    name: str | None = None
    namespace: str | None = None


class _Named(msgspec.Struct, gc=False):
    kind: str = ""
    metadata: _Names = msgspec.field(default_factory=_Names)


_NAMED = msgspec.json.Decoder(_Named)
