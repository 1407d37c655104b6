"""Policies over recorded load, and a clock set by hand: providers that answer the same at any time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.daemon.plugins import load_policy
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW

HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"
STEP = 60
READY = {"type": "Ready", "status": "True"}


def answers(end: float = NOW, **cpu: float) -> list[Mapping[str, Any]]:
    """What GET /watcher gave once a minute for 20 minutes: cpu by node in percent, a little more each minute."""
    return [_answer(int(end) - STEP * (20 - minute), minute, cpu) for minute in range(1, 21)]


def _answer(end: int, minute: int, cpu: Mapping[str, float]) -> Mapping[str, Any]:
    metrics = {
        name: {
            "metrics": [{"type": kind, "operator": "AVG", "value": value + minute / 100} for kind in ("CPU", "Memory")]
        }
        for name, value in cpu.items()
    }
    window = {"duration": "1m", "start": end - STEP, "end": end}
    return {"timestamp": end, "window": window, "source": "test", "data": {"NodeMetricsMap": metrics}}


def recorded_policy(folder: Path, recording: object, more: str = "") -> Policy:
    """A policy whose only provider is this recording; ``more``: further lines below ``usage``."""
    (folder / "load.json").write_text(json.dumps(recording))
    file = folder / "policy.yaml"
    file.write_text(f"{HEAD}usage:\n  providers: [{{name: Recorded, args: {{file: load.json}}}}]\n{more}")
    return load_policy([file])


def recorded_cluster(folder: Path, *nodes: str) -> ClusterOptions:
    """A recording of these nodes, each with one pod."""
    made = {"creationTimestamp": "2020-01-01T00:00:00Z"}
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    items: list[Mapping[str, Any]] = [
        {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name, **made},
            "status": {"allocatable": amounts, "capacity": amounts, "conditions": [READY]},
        }
        for name in nodes
    ]  # fmt: skip
    items += [
        {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": f"pod-{name}", "namespace": "default", "uid": f"pod-{name}", **made},
            "spec": {"nodeName": name, "containers": [{"name": "a"}]}, "status": {"phase": "Running"},
        }
        for name in nodes
    ]  # fmt: skip
    (folder / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return ClusterOptions(filenames=(str(folder / "cluster.json"),))
