"""Puts a Cluster together from recordings."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, BinaryIO, Final

import msgspec

from rescheduler.adapters.files.recording.documents import MOST_OBJECTS, MOST_UNUSED_OBJECTS, Envelope, Item, head_of
from rescheduler.adapters.files.recording.json_text import json_objects
from rescheduler.adapters.files.recording.sources import name_of, read_chunks
from rescheduler.adapters.files.recording.yaml_text import yaml_objects
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME, NETWORK_POLICY, RECORDED_KINDS, ObjectKind
from rescheduler.adapters.kubernetes.objects.cluster import ClusterBuilder
from rescheduler.adapters.kubernetes.objects.config_map import ConfigMapObject, key_of
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError, decode
from rescheduler.adapters.kubernetes.objects.decoding.pages import decode_object, labelled
from rescheduler.adapters.kubernetes.objects.measured_use import METRICS, UseOfMoment
from rescheduler.extension_points import Progress, SnapshotError, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import shortened
from rescheduler.model.times import read_time
from rescheduler.model.usage.measured_use import NOTHING_MEASURED

# When a recording was taken: as it says itself, or the newest time that stands in it.

TAKEN_AT: Final = "rescheduler.dev/takenAt"
_TIME: Final = re.compile(rb'"(20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d))"')
# Fields that Kubernetes fills with times; labels and annotations may hold any time, also one to come.
_FIELD: Final = re.compile(rb'"(?:[A-Za-z]*Time|[A-Za-z]*Timestamp|time|startedAt|finishedAt)"\s*:\s*\Z')
_LONGEST_FIELD: Final = 80


class NewestTime:
    """The newest time among all fields looked at."""

    def __init__(self) -> None:
        """Start before all times."""
        self.seconds = 0.0

    def look_at(self, raw: bytes) -> None:
        """Take the times of one JSON object into account."""
        for match in _TIME.finditer(raw):
            found = read_time(match.group(1).decode("ascii"))
            if found is not None and found > self.seconds and _is_field(raw, match.start()):
                self.seconds = found


def _is_field(raw: bytes, start: int) -> bool:
    return _FIELD.search(raw[max(0, start - _LONGEST_FIELD) : start]) is not None


SERVER_VERSION: Final = "rescheduler.dev/serverVersion"
_SHOWN_KINDS: Final = 12
_DEEPEST_LIST: Final = 3
Keep = Callable[[ObjectKind, bytes], None]


def read_recording(
    filenames: Sequence[str],
    stdin: BinaryIO | None = None,
    progress: Progress = no_progress,
    config_maps: Collection[str] = (),
    *,
    with_details: bool = False,
    keep: Keep = lambda _kind, _raw: None,
) -> Cluster:
    """Read a cluster from files as kubectl prints them (JSON or YAML, ``.gz``, ``.xz``; ``-``: ``stdin``).

    Several files and documents make up one cluster. ``taken_at`` is the recording's own, or else the newest time
    that stands in it. ``config_maps``: those to keep, by ``NAMESPACE/NAME``. ``with_details``: keep
    ``Cluster.pod_details`` and ``Cluster.measured``. ``keep`` is given each object that is used.
    Raises SnapshotError naming file, object and field.
    """
    recording = _Recording(config_maps, keep, with_details=with_details)
    for filename in filenames:
        name = name_of(filename)
        try:
            recording.take(read_chunks(filename, stdin, progress))
        except BrokenTextError as error:
            place = "" if error.offset is None else f" (byte {error.offset})"
            raise SnapshotError(f"{name}: {error.problem}{place}") from error
        except ObjectError as error:
            raise SnapshotError(f"{name}: {error}") from error
    source = ", ".join(name_of(filename) for filename in filenames)
    if not recording.has_nodes_or_pods:
        raise SnapshotError(f"{source}: found {recording.found}; wanted nodes and pods, as kubectl get nodes,pods "
                            "-A -o json prints them")  # fmt: skip
    try:
        return recording.cluster(source)
    except ObjectError as error:
        raise SnapshotError(f"{source}: {error}") from error


class _Recording:
    """What was found so far."""

    def __init__(self, config_maps: Collection[str], keep: Keep, *, with_details: bool) -> None:
        self._wanted = frozenset(config_maps)
        self._keep = keep
        self._config_maps: dict[str, Mapping[str, str]] = {}
        self._builder = ClusterBuilder(with_details=with_details)
        self._use = UseOfMoment() if with_details else None
        self._newest = NewestTime()
        self._taken_at: float | None = None
        self._server_version: str | None = None
        self._kinds: set[str] = set()
        self._told: set[str] = set()  # kinds that we use, empty lists of them included
        self._used = self._unused = 0

    @property
    def has_nodes_or_pods(self) -> bool:
        return self._builder.count("Node") + self._builder.count("Pod") > 0

    @property
    def found(self) -> str:
        """All kinds that were found, in words."""
        shown = [shortened(kind or "an object without kind") for kind in sorted(self._kinds)]
        return ", ".join(shown) or "nothing at all"

    def take(self, chunks: Iterator[bytes], depth: int = 0) -> None:
        """Read one text. Raises BrokenTextError, ObjectError."""
        first = next((chunk for chunk in chunks if not chunk.isspace()), b"")
        read = json_objects if first.lstrip()[:1] in (b"{", b"[") else yaml_objects
        for found in read(chain([first], chunks)):
            self._newest.look_at(found.raw)
            if isinstance(found, Envelope):
                self._take_envelope(found)
            elif found.kind.endswith("List"):
                if depth == _DEEPEST_LIST:
                    raise ObjectError("", "lists within lists within lists", found.where)
                self.take(iter([found.raw]), depth + 1)
            else:
                self._take_item(found)

    def cluster(self, source: str) -> Cluster:
        """Everything as one snapshot. Raises ObjectError."""
        taken_at = self._newest.seconds if self._taken_at is None else self._taken_at
        if not self._builder.count("Node"):
            self._builder.warn(f"{source}: there are no nodes in it, so no pod can be moved or placed")
        cluster = self._builder.build(taken_at=taken_at, source=source, server_version=self._server_version)
        absent = frozenset(KIND_BY_NAME) - self._told
        measured = NOTHING_MEASURED if self._use is None else self._use.found
        policies = (cluster.network_policies or ()) if NETWORK_POLICY.name in self._told else None
        return replace(
            cluster,
            config_maps=self._config_maps,
            absent_kinds=absent,
            is_recording=True,
            measured=measured,
            network_policies=policies,
        )

    def _take_item(self, item: Item) -> None:
        self._see(item.kind)
        if self._use is not None and item.kind in METRICS:
            self._use.take(item.kind, item.raw)
        if item.kind == "ConfigMap" and self._wanted:
            self._take_config_map(item)
        kind = RECORDED_KINDS.get(item.kind)
        if kind is None or (item.api_version and not kind.is_of(item.api_version)):
            self._unused = _counted(self._unused, MOST_UNUSED_OBJECTS, "objects of kinds that are not needed")
            return
        self._told.add(kind.name)
        self._used = _counted(self._used, MOST_OBJECTS, "objects")
        try:
            self._builder.add(kind.name, decode_object(kind, item.raw))
            self._keep(kind, item.raw)
        except ObjectError as error:
            label = error.label.replace("(without a name)", f"(without a name, {item.where})")
            raise ObjectError(error.path, error.problem, label) from error

    def _take_config_map(self, item: Item) -> None:
        if not any(key.partition("/")[2].encode() in item.raw for key in self._wanted):
            return  # most are none of ours, and need not be looked at further
        try:
            found = decode(item.raw, ConfigMapObject)
        except ObjectError as error:
            raise labelled(error, item.kind, item.raw) from error
        key = key_of(found)
        if key in self._wanted and self._config_maps.setdefault(key, found.data or {}) != (found.data or {}):
            raise ObjectError("data", "differs from that of another ConfigMap of the same name", f"ConfigMap {key}")

    def _take_envelope(self, envelope: Envelope) -> None:
        self._see(envelope.kind)
        kind = RECORDED_KINDS.get(envelope.kind.removesuffix("List"))
        version = "" if kind is None else head_of(envelope.raw, envelope.kind)[1]
        if kind is not None and (not version or kind.is_of(version)):
            self._told.add(kind.name)
        try:
            marks: Any = msgspec.json.decode(envelope.raw)["metadata"]["annotations"]
            taken_at, version = marks.get(TAKEN_AT), marks.get(SERVER_VERSION)
        except (KeyError, TypeError, AttributeError, UnicodeDecodeError):
            return
        if isinstance(taken_at, str):
            seconds = read_time(taken_at)
            if seconds is None:
                raise ObjectError(f"metadata.annotations.{TAKEN_AT}", f"{taken_at!r} is no time", envelope.kind)
            self._taken_at = max(self._taken_at or 0.0, seconds)
        if isinstance(version, str):
            self._server_version = shortened(version)

    def _see(self, kind: str) -> None:
        if len(self._kinds) < _SHOWN_KINDS:
            self._kinds.add(kind)


def _counted(count: int, most: int, what: str) -> int:
    if count == most:
        raise BrokenTextError(f"more than {most:,} {what}; record nodes, pods and what belongs to them alone")
    return count + 1
