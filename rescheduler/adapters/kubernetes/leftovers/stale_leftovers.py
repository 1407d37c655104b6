"""Finds what has run out and belongs to no plan that still runs, and removes each thing only if nobody renewed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import COLLECTIONS, OUR_REQUESTS, TEMPLATES
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, NotServedError
from rescheduler.adapters.kubernetes.client.paths import config_map_path, job_path, pod_path
from rescheduler.adapters.kubernetes.eviction.detaching import find_detached, give_back
from rescheduler.adapters.kubernetes.guidance.emptied_marks import find_marks, unmark
from rescheduler.adapters.kubernetes.guidance.gates import MarkedPod, find_gated, ungate
from rescheduler.adapters.kubernetes.guidance.hold_jobs import delete_unchanged, list_all, our_jobs
from rescheduler.adapters.kubernetes.guidance.nominations import withdraw
from rescheduler.adapters.kubernetes.guidance.placeholders import EXPIRES_ANNOTATION, PLAN_LABEL
from rescheduler.adapters.kubernetes.guidance.rule_object import RULE, jobs_of, read_rule
from rescheduler.adapters.kubernetes.guidance.taints import TaintedNode, find_taints, remove_unless_renewed
from rescheduler.adapters.kubernetes.leftovers.cleaning import (
    GATE,
    MARK,
    NOMINATION,
    OUT,
    RULE_KIND,
    TAINT,
    Leftover,
    leftover_of,
    our_pods,
)
from rescheduler.adapters.kubernetes.leftovers.lost_nominations import find_nominations
from rescheduler.extension_points import ClusterError, LedgerDeniedError, LedgerLostError
from rescheduler.model.daemon.capacity import EMPTIED
from rescheduler.model.plan.leaving_taint import SLACK_SECONDS, is_expired
from rescheduler.model.times import read_time

UNREADABLE_SECONDS: Final = 3600.0
"""A thing of ours that does not say when it ends is old enough after this."""


LetGo = Callable[[Connection, str, str, str], bool]
"""Takes our mark off a pod by namespace, name and uid; whether it was there. Raises ClusterError."""


class Stale(NamedTuple):
    """A thing that has run out; ``remove`` tells whether it was still there, as it was found. Raises ClusterError."""

    leftover: Leftover
    remove: Callable[[], bool]


class Cleaned(NamedTuple):
    """What was removed, and what could not be, in words."""

    removed: tuple[Leftover, ...]
    failures: tuple[str, ...]


def remove_stale(
    connection: Connection, hold_namespace: str, now: Callable[[], float], ledger: str = "rescheduler-ledger"
) -> Cleaned:
    """Remove whatever has run out by the API server's clock; each thing is tried although others fail.

    ``now``: stands in where the server does not tell the time, seconds since the epoch. Raises ClusterError where
    nothing can be found out.
    """
    removed, failures = [], []
    for found in find_stale(connection, hold_namespace, now, ledger):
        try:
            if found.remove():
                removed.append(found.leftover)
        except ClusterError as error:
            failures.append(f"{found.leftover.text} could not be removed: {error}")
    return Cleaned(tuple(removed), tuple(failures))


def find_stale(
    connection: Connection, hold_namespace: str, now: Callable[[], float], ledger: str = "rescheduler-ledger"
) -> list[Stale]:
    """What has run out: pods taken out, rule, placeholders, placeholder pods without their Job, gates, taints, what
    autoscalers were asked for and offered, and nominations of the ledger of this name. Raises ClusterError."""
    jobs = our_jobs(connection, hold_namespace)
    time = connection.server_time or now()

    def lost(find: Callable[[Connection], Sequence[MarkedPod]]) -> Iterator[MarkedPod]:
        return (pod for pod in _permitted(find, connection) if _is_lost(pod, jobs, time))

    # Pods are given back first, then the rule, so that nobody is gated any more; then the room, so that those which are
    # let go find it.
    return [
        *(_marked(OUT, give_back, connection, pod) for pod in lost(find_detached)),
        *_rule(connection, hold_namespace, jobs, time),
        *(_deletable(connection, "Job", job) for job in jobs if _job_ends_at(job) + SLACK_SECONDS < time),
        *(
            _deletable(connection, "Pod", pod)
            for pod in our_pods(connection, hold_namespace, jobs)
            if _ends_at(pod) + SLACK_SECONDS < time
        ),
        *(_marked(GATE, ungate, connection, pod) for pod in lost(find_gated)),
        *(_taint(connection, item) for item in _permitted(find_taints, connection) if is_expired(item.taint, time)),
        *_asked_for(connection, hold_namespace, time),
        *_marks(connection, time),
        *_nominations(connection, hold_namespace, ledger, time),
    ]


def _permitted(find: Callable[[Connection], Sequence[Any]], connection: Connection) -> Sequence[Any]:
    """What is found; nothing where we may not look, since then we have not written anything there."""
    try:
        return find(connection)
    except (ForbiddenError, NotServedError):
        return ()


def _rule(connection: Connection, namespace: str, jobs: list[dict[str, Any]], time: float) -> Iterator[Stale]:
    """The gate rule, if its plan's Job is gone and it has run out."""
    standing = {job["metadata"].get("uid") for job in jobs}
    for rule in _permitted(lambda _: [read_rule(connection, namespace)], connection):
        if rule is not None and not standing & set(jobs_of(rule)) and _ends_at(rule) + SLACK_SECONDS < time:
            remove = partial(delete_unchanged, connection, config_map_path(namespace, RULE), rule)
            yield Stale(Leftover(RULE_KIND, namespace, RULE, ""), remove)


def _asked_for(connection: Connection, namespace: str, time: float) -> Iterator[Stale]:
    """What an autoscaler was asked for until a time that has passed: what refers to others first."""
    for collection in (*COLLECTIONS.values(), TEMPLATES):
        find = partial(list_all, path=collection.path(namespace), selector=OUR_REQUESTS)
        for item in _permitted(find, connection):
            if _ends_at(item) + SLACK_SECONDS < time:
                path = collection.path(namespace, item["metadata"]["name"])
                remove = partial(delete_unchanged, connection, path, item)
                yield Stale(Leftover(collection.kind, namespace, item["metadata"]["name"], ""), remove)


def _marks(connection: Connection, time: float) -> Iterator[Stale]:
    """Nodes that were offered to an autoscaler until a time that has passed."""
    for node in _permitted(partial(find_marks, run_out_at=time), connection):
        yield Stale(Leftover(MARK, "", EMPTIED, node), partial(unmark, connection, node, run_out_at=time))


def _nominations(connection: Connection, namespace: str, ledger: str, time: float) -> Iterator[Stale]:
    """Pods that were nominated until a time that has passed, and are still."""
    try:
        found = list(find_nominations(connection, namespace, ledger))
    except (LedgerDeniedError, LedgerLostError):
        return  # nothing was written there by whoever may not, and what is lost names nobody
    for item in found:
        if item.expires_at + SLACK_SECONDS < time:
            pod = item.pod
            remove = partial(withdraw, connection, pod.namespace, pod.name, pod.uid, item.node)
            yield Stale(Leftover(NOMINATION, pod.namespace, pod.name, item.node), remove)


def _deletable(connection: Connection, kind: str, item: dict[str, Any]) -> Stale:
    path = {"Job": job_path, "Pod": pod_path}[kind](item["metadata"]["namespace"], item["metadata"]["name"])
    return Stale(leftover_of(kind, item), partial(delete_unchanged, connection, path, item))


def _marked(kind: str, let_go: LetGo, connection: Connection, pod: MarkedPod) -> Stale:
    remove = partial(let_go, connection, pod.namespace, pod.name, pod.uid)
    return Stale(Leftover(kind, pod.namespace, pod.name, ""), remove)


def _taint(connection: Connection, item: TaintedNode) -> Stale:
    return Stale(Leftover(TAINT, "", item.taint.value, item.node), partial(remove_unless_renewed, connection, item))


def _is_lost(pod: MarkedPod, jobs: list[dict[str, Any]], time: float) -> bool:
    """Whether the plan of a pod that is gated or out does not run any more: it has no Job, and its time has passed.

    A pod that does not tell whose it is may be anybody's who runs.
    """
    running = {(job["metadata"].get("labels") or {}).get(PLAN_LABEL) for job in jobs}
    ends_at = read_time(pod.expires)
    if not pod.plan_id or ends_at is None:
        return not running
    return pod.plan_id not in running and ends_at + SLACK_SECONDS < time


def _job_ends_at(job: dict[str, Any]) -> float:
    """When the cluster itself should have ended a Job, by its own deadline and by ours, whichever is later."""
    began = read_time((job.get("status") or {}).get("startTime") or job["metadata"].get("creationTimestamp"))
    deadline = (job.get("spec") or {}).get("activeDeadlineSeconds")
    if began is None or not isinstance(deadline, int):
        return _ends_at(job)
    return max(began + deadline, read_time(_expiry(job)) or 0.0)


def _ends_at(item: dict[str, Any]) -> float:
    ends_at = read_time(_expiry(item))
    if ends_at is not None:
        return ends_at
    return (read_time(item["metadata"].get("creationTimestamp")) or 0.0) + UNREADABLE_SECONDS


def _expiry(item: dict[str, Any]) -> str:
    return str((item["metadata"].get("annotations") or {}).get(EXPIRES_ANNOTATION, ""))
