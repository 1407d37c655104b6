"""What a killed run has left, taken away in its place: its gate rule, its placeholders, its gates and its taints."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import OUR_REQUESTS
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import all_tried
from rescheduler.adapters.kubernetes.client.paths import job_path
from rescheduler.adapters.kubernetes.eviction.detaching import give_plan_back
from rescheduler.adapters.kubernetes.guidance.gates import MarkedPod, find_gated, ungate_all
from rescheduler.adapters.kubernetes.guidance.hold_jobs import delete, list_all, our_jobs
from rescheduler.adapters.kubernetes.guidance.placeholders import OUR_PLACEHOLDERS, PLAN_LABEL
from rescheduler.adapters.kubernetes.guidance.rule_object import plan_of, read_rule, remove_rule
from rescheduler.adapters.kubernetes.guidance.taints import sweep_taints
from rescheduler.adapters.kubernetes.leftovers.lost_nominations import withdraw_nominations
from rescheduler.model.daemon.capacity import CAPACITY


def tidy_up(
    connection: Connection,
    namespace: str,
    plan_id: str,
    *,
    has_taints: bool = False,
    has_surges: bool = False,
    ledger: str = "",
    request: str = "",
) -> int:
    """Take away everything of one plan; how many things there were.

    Each part is tried even where one before it failed; then raises ClusterError. ``has_taints``: the plan closed nodes
    by taints; it had no gates then, and its placeholders go by themselves. ``has_surges``: it took pods out of their
    ReplicaSets, which are given back before anything else: then a ReplicaSet deletes the pod that waits at the gate.
    ``ledger``: where pods may be written that it nominated to room which it was to make ("": there are none).
    Nothing of any other plan is touched.
    """
    # The rule first, so that no further pod is gated; then the room, so that those which are let go find it.
    parts: list[Callable[[], int]] = [
        lambda: _remove_rule(connection, namespace, plan_id),
        lambda: _remove_jobs(connection, namespace, plan_id),
        lambda: len(ungate_all(connection, [pod for pod in find_gated(connection) if pod.plan_id == plan_id])),
    ]
    if has_taints:
        parts = [lambda: len(sweep_taints(connection, plan_id))]
    if has_surges:
        parts.insert(0, lambda: len(give_plan_back(connection, lambda plan: plan == plan_id)))
    if ledger:
        parts.append(lambda: withdraw_nominations(connection, namespace, ledger, plan_id))
    if request:
        parts.insert(0, lambda: _remove_request(connection, namespace, request))
    return sum(all_tried(parts))


def free_stale(connection: Connection, namespace: str) -> list[MarkedPod]:
    """Let pods go that wait at the gate of a plan which does not run any more. Raises ClusterError.

    A plan runs as long as a Job of it stands, wherever that is; each of them has a deadline.
    """
    running = _running(connection, namespace)
    return ungate_all(connection, [pod for pod in find_gated(connection) if pod.plan_id not in running])


def give_stale_back(connection: Connection, namespace: str) -> list[MarkedPod]:
    """Give pods back that a plan took out of their ReplicaSets which does not run any more. Raises ClusterError."""
    running = _running(connection, namespace)
    return give_plan_back(connection, lambda plan: plan not in running)


def _running(connection: Connection, namespace: str) -> set[str]:
    return {item["metadata"]["labels"].get(PLAN_LABEL) for item in our_jobs(connection, namespace)}


def _remove_rule(connection: Connection, namespace: str, plan_id: str) -> int:
    found = read_rule(connection, namespace)
    if found is None or plan_of(found) != plan_id:
        return 0
    return int(remove_rule(connection, namespace, found))


def _remove_jobs(connection: Connection, namespace: str, plan_id: str) -> int:
    return _remove_selected(connection, namespace, f"{OUR_PLACEHOLDERS},{PLAN_LABEL}={plan_id}")


def _remove_request(connection: Connection, namespace: str, name: str) -> int:
    return _remove_selected(connection, namespace, f"{OUR_REQUESTS},{CAPACITY}={name}")


def _remove_selected(connection: Connection, namespace: str, selector: str) -> int:
    found = list_all(connection, job_path(namespace), selector)
    return sum(delete(connection, job_path(namespace, item["metadata"]["name"])) for item in found)
