"""States, restarts, exit codes and conditions are read where they are asked for, and survive a recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.adapters.files.recording.slim import slim_bytes
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.objects.decoding.pages import decode_object
from rescheduler.model.objects.pod_detail import ContainerDetail, PodDetail
from tests.unit.adapters.api_objects import list_of, node_object, pod_object

STATUS = {
    "phase": "Failed",
    "reason": "Evicted",
    "conditions": [
        {"type": "Ready", "status": "False", "reason": "PodFailed", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    ],
    "containerStatuses": [
        {"name": "c", "restartCount": 3, "state": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}
    ],
    "initContainerStatuses": [{"name": "i", "restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}],
    "ephemeralContainerStatuses": [{"name": "e", "restartCount": 0, "state": {"terminated": {"exitCode": 0}}}],
}  # fmt: skip


def detail(folder: Path, item: dict[str, Any]) -> PodDetail:
    """What a recording with one pod says of it."""
    path = folder / "cluster.json"
    path.write_text(json.dumps(list_of(node_object(), item)))
    return read_recording([str(path)], with_details=True).pod_details["default/a"]


def test_everything_that_rules_ask_for_is_kept(tmp_path: Path) -> None:
    """Each container with its kind; the condition with its time."""
    found = detail(tmp_path, pod_object(status=STATUS))
    assert found.reason == "Evicted"
    assert found.has_priority
    assert found.containers == (
        ContainerDetail("App", 3, terminated="OOMKilled", exit_code=137),
        ContainerDetail("Init", 1, waiting="CrashLoopBackOff"),
        ContainerDetail("Ephemeral", exit_code=0),
    )
    (condition,) = found.conditions
    assert (condition.type, condition.status, condition.reason, condition.since) == (
        "Ready", "False", "PodFailed", 1767225600.0,
    )  # fmt: skip


def test_a_recording_written_slim_says_the_same(tmp_path: Path) -> None:
    """What ``snapshot`` cuts away is nothing that these rules look at."""
    kind = KIND_BY_NAME["Pod"]
    whole = pod_object(status=STATUS)
    slim = msgspec.json.decode(slim_bytes(kind, decode_object(kind, json.dumps(whole).encode())))
    assert detail(tmp_path, slim) == detail(tmp_path, whole)


def test_nothing_is_kept_unasked(tmp_path: Path) -> None:
    """It would be a great part of a large cluster's memory."""
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(list_of(node_object(), pod_object(status=STATUS))))
    assert read_recording([str(path)]).pod_details == {}
