"""Finds and removes what earlier runs left behind: placeholders, and the namespace that was made for them."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.failures import NotServedError
from rescheduler.adapters.kubernetes.hold_jobs import delete, list_all
from rescheduler.adapters.kubernetes.paths import job_path, pod_path
from rescheduler.adapters.kubernetes.placeholders import NODE_ANNOTATION, OUR_PLACEHOLDERS
from rescheduler.extension_points import ClusterError
from rescheduler.model.annotations import HOLD_GATE

ALL_JOBS: Final = "/apis/batch/v1/jobs"
ALL_PODS: Final = "/api/v1/pods"


class Leftover(NamedTuple):
    """An object of ours that still exists. ``node``: where it keeps room."""

    kind: str
    namespace: str
    name: str
    node: str

    @property
    def text(self) -> str:
        """For people."""
        return f"{self.kind} {self.namespace}/{self.name}" + (f", keeps room on {self.node}" if self.node else "")


def find_leftovers(connection: Connection, hold_namespace: str) -> list[Leftover]:
    """Placeholder Jobs of any plan, and placeholder pods whose Job is gone, in all namespaces.

    Where we may not list all namespaces, only ``hold_namespace`` is looked at. Raises ClusterError.
    """
    jobs = _list(connection, ALL_JOBS, job_path(hold_namespace))
    known = {item["metadata"].get("uid") for item in jobs}
    pods = [
        item
        for item in _list(connection, ALL_PODS, pod_path(hold_namespace))
        if _is_gated(item) and not any(owner.get("uid") in known for owner in _owners(item))
    ]
    return [_leftover("Job", item) for item in jobs] + [_leftover("Pod", item) for item in pods]


def remove_leftovers(connection: Connection, leftovers: list[Leftover]) -> list[Leftover]:
    """Delete them; those that were there. Raises ClusterError at the first that cannot be deleted."""
    paths = {"Job": job_path, "Pod": pod_path}
    return [item for item in leftovers if delete(connection, paths[item.kind](item.namespace, item.name))]


def _list(connection: Connection, everywhere: str, local: str) -> list[dict[str, Any]]:
    try:
        return list_all(connection, everywhere, OUR_PLACEHOLDERS)
    except NotServedError:
        raise
    except ClusterError:
        return list_all(connection, local, OUR_PLACEHOLDERS)


def _leftover(kind: str, item: dict[str, Any]) -> Leftover:
    metadata = item["metadata"]
    node = (metadata.get("annotations") or {}).get(NODE_ANNOTATION, "")
    return Leftover(kind, metadata["namespace"], metadata["name"], node)


def _owners(item: dict[str, Any]) -> list[dict[str, Any]]:
    return item["metadata"].get("ownerReferences") or []


def _is_gated(item: dict[str, Any]) -> bool:
    return HOLD_GATE in [gate["name"] for gate in item["spec"].get("schedulingGates") or []]
