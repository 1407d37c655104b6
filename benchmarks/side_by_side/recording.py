"""Keeps a cluster as `kubectl get -o json` would tell it, and what the contenders said, to look into a result later."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.side_by_side.cycles import Outcome
from tests.cluster.api import Api, Manifest

KINDS = {
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
    "deployments": ("apps/v1", "Deployment"),
    "replicasets": ("apps/v1", "ReplicaSet"),
    "statefulsets": ("apps/v1", "StatefulSet"),
    "daemonsets": ("apps/v1", "DaemonSet"),
    "poddisruptionbudgets": ("policy/v1", "PodDisruptionBudget"),
}


def record(api: Api, path: Path) -> None:
    """Write all that a plan depends on, as one List."""
    items = [_whole(item, *kind) for resource, kind in KINDS.items() for item in api.list(resource)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}) + "\n")


def keep(outcome: Outcome, folder: Path) -> None:
    """Write what a contender printed in each cycle, its errors behind."""
    folder.mkdir(parents=True, exist_ok=True)
    contender = outcome.contender
    for number, cycle in enumerate(outcome.cycles, start=1):
        name = f"{contender.program} {contender.name} {contender.scheduler_name} {number}".replace("/", "-")
        (folder / f"{name}.out").write_text(cycle.footprint.output)
        (folder / f"{name}.err").write_text(cycle.footprint.errors)


def _whole(item: Manifest, version: str, kind: str) -> Manifest:
    """An item of a list with what the list says of all; who last changed which field is left out."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    return {"apiVersion": version, "kind": kind, **item, "metadata": metadata}
