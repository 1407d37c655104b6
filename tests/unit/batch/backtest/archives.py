"""Archives of small clusters that change, for back-tests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rescheduler.adapters.files.archive.archive_writing import ArchiveWriter
from rescheduler.adapters.files.archive.recorded_content import read_content
from tests.unit.adapters.api_objects import api_object, complete, container, node_object, pod_object

START = 1_780_000_000 - 1_780_000_000 % 3600
NOW = START + 1e7
FREE = """\
scope: {minimumAge: 0s}
health: {settle: 0s}
disruption:
  {rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited}, rampUp: unlimited, quiet: 0s,
   workloads: {maxUnavailable: 2}}
"""
"""Fields of a policy under which nothing but the objectives says how many pods move."""
Object = dict[str, Any]


def rfc(time: float) -> str:
    """As a recording writes it."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def replica_set(name: str, replicas: int) -> Object:
    """Of pods labelled with its name."""
    return api_object(
        "ReplicaSet", name, namespace="default", version="apps/v1",
        spec={"replicas": replicas, "selector": {"matchLabels": {"app": name}}},
        status={"replicas": replicas, "readyReplicas": replicas},
    )  # fmt: skip


def owned(name: str, node: str | None, owner: str, cpu: str = "1", uid: str | None = None) -> Object:
    """A pod of a ReplicaSet."""
    pod = pod_object(name, node, containers=[container(cpu=cpu)])
    pod["metadata"]["labels"] = {"app": owner}
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": f"uid-ReplicaSet-{owner}",
                 "controller": True}  # fmt: skip
    pod["metadata"]["ownerReferences"] = [reference]
    if uid is not None:
        pod["metadata"]["uid"] = uid
    return pod


def archive(folder: Path, snapshots: Sequence[Sequence[Object]], every: int = 1200) -> str:
    """One with a snapshot for each list of objects."""
    writer = ArchiveWriter(str(folder / "archive"))
    for number, objects in enumerate(snapshots):
        document = complete(*objects)
        document["metadata"] = {"annotations": {"rescheduler.dev/takenAt": rfc(START + number * every)}}
        file = folder / "one.json"
        file.write_text(json.dumps(document))
        writer.add(read_content(str(file)), NOW)
    return str(folder / "archive")


def sparse(*pods: Object) -> list[Object]:
    """Three nodes of four cores, of which one could be emptied: a pod of one core on each."""
    standing = pods or tuple(owned(f"web-{at}", node, "web") for at, node in enumerate("abc"))
    return [*(node_object(name) for name in "abc"), replica_set("web", 3), *standing]
