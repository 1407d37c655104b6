"""Placeholders on a live cluster by the name of what they hold: made, moved, renewed, removed.

Equal ones share a Job, since job controllers are slow to make and to end many. A placeholder that is let go while
others of its Job stand loses its nomination only, and serves for the next hold of its size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.guidance.hold_jobs import HoldJobs, Told
from rescheduler.adapters.kubernetes.guidance.nominations import nominate
from rescheduler.adapters.kubernetes.guidance.placeholders import (
    EXPIRES_ANNOTATION,
    HOLD_ANNOTATION,
    HOLD_LABEL,
    NODE_ANNOTATION,
    PLACEHOLDERS_OF_PLANS,
    expiry,
)
from rescheduler.extension_points import Clock, ClusterError, HoldRequest

ENDED_PER_SECOND: Final = 8
"""As many placeholders a job controller ends at its default rate of 20 requests a second."""
RENOMINATED: Final = 40
"""More placeholders are not nominated again by one renewal, unless their nomination is lost: the others have their turn
with the next. Renewals of hundreds of placeholders would leave `run` no request for its moves (I26)."""


@dataclass
class _Placeholder:
    """One pod of a Job; its name and uid are empty until the job controller has made it."""

    job: str
    pod: str = ""
    uid: str = ""


class HoldKeeper:
    """Placeholders in one namespace, which is made when it is missing and we may.

    ``told``: what a watch tells of that namespace's pods, so that none are listed while they come and go.
    """

    def __init__(self, connection: Connection, namespace: str, clock: Clock, told: Told = lambda: None) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock
        self._jobs = HoldJobs(connection, namespace, clock, told)
        self._held: dict[str, _Placeholder] = {}
        self._shapes: dict[str, Hashable] = {}
        self._spare: dict[str, list[_Placeholder]] = {}
        self._turns = 0

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Make placeholders and nominate them; returns when all stand. Raises ClusterError."""
        groups: dict[Hashable, list[HoldRequest]] = defaultdict(list)
        for request in requests:
            if not self._use_spare(request):
                groups[_shape(request)].append(request)
        if groups:
            self._jobs.ensure_namespace()
            self._make(groups)

    def renew(self, requests: Sequence[HoldRequest]) -> list[str]:
        """Give placeholders their whole deadline again; names of those that are gone. Raises ClusterError.

        Nominating a pod again also restores a hold that a restarted scheduler has forgotten; where they are many, each
        has its turn. Time is given to all of them before that, which may take long.
        """
        lives: dict[str, bool] = {}
        for request in requests:
            held = self._held.get(request.name)
            if held is not None and held.job not in lives:
                lives[held.job] = self._jobs.extend(held.job, self._in_time(request.deadline_seconds))
        turn = self._turn_of(requests)
        nominated = {} if len(turn) == len(requests) else self._nominated()
        gone = []
        for request in requests:
            held = self._held.get(request.name)
            is_left = held is not None and request.name not in turn and nominated.get(held.uid) == request.node
            if held is None or not lives[held.job] or not (is_left or self._nominate(held, request)):
                gone.append(request.name)
        return gone

    def _turn_of(self, requests: Sequence[HoldRequest]) -> set[str]:
        """Names of those that are nominated again this time: one after the other, all of them where they are few."""
        first = self._turns * RENOMINATED % len(requests) if len(requests) > RENOMINATED else 0
        self._turns += 1
        return {request.name for request in (*requests[first:], *requests[:first])[:RENOMINATED]}

    def _nominated(self) -> dict[str, str | None]:
        """Nodes that placeholders are nominated to, by uid. Raises ClusterError."""
        pods = self._jobs.pods(PLACEHOLDERS_OF_PLANS)
        return {pod["metadata"]["uid"]: (pod.get("status") or {}).get("nominatedNodeName") for pod in pods}

    def release(self, names: Sequence[str]) -> None:
        """Let go of what these placeholders hold; returns when it is free. Others are fine. Raises ClusterError."""
        released = {name: self._held[name] for name in names if name in self._held}
        in_use = {held.job for name, held in self._held.items() if name not in released}
        for held in released.values():
            if held.job in in_use and held not in self._spare[held.job] and self._let_go(held):
                self._spare[held.job].append(held)
        ended = {held.job for held in released.values()} - in_use
        self._jobs.delete(ended)
        # Only now: where the server fails on the way, the same call again finds all of it.
        for name in released:
            del self._held[name]
        for job in ended:
            self._shapes.pop(job, None)
            self._spare.pop(job, None)

    def names(self) -> list[str]:
        """Names of the holds of all plans in the namespace; of Jobs and pods left alone where none is known."""
        found: dict[str, set[str]] = defaultdict(set)
        for pod in self._jobs.pods(PLACEHOLDERS_OF_PLANS):
            name = (pod["metadata"].get("annotations") or {}).get(HOLD_ANNOTATION)
            if name:
                found[(pod["metadata"].get("labels") or {}).get(HOLD_LABEL, "")].add(name)
        return sorted({name for job in self._jobs.names(PLACEHOLDERS_OF_PLANS) for name in found.get(job) or {job}})

    def _make(self, groups: dict[Hashable, list[HoldRequest]]) -> None:
        """Make one Job for the requests of each shape."""
        jobs: dict[str, list[HoldRequest]] = {}
        for shape, requests in groups.items():
            name = requests[0].name
            while name in self._shapes:
                name += "-x"
            # Known before the request: where its answer is lost, the release finds the Job all the same.
            self._shapes[name], self._spare[name], jobs[name] = shape, [], requests
            self._held.update({request.name: _Placeholder(name) for request in requests})
            deadline = self._in_time(requests[0].deadline_seconds)
            self._jobs.create([item._replace(deadline_seconds=deadline) for item in requests], name)
        pods = self._jobs.await_pods({name: len(found) for name, found in jobs.items()}, _plan_of(groups))
        for name, requests in jobs.items():
            for request, (pod, uid) in zip(requests, sorted(pods[name]), strict=False):
                held = self._held[request.name] = _Placeholder(name, pod, uid)
                if not self._nominate(held, request):
                    raise ClusterError(f"placeholder {self._namespace}/{pod} was gone before it could be nominated")

    def _in_time(self, deadline_seconds: int) -> int:
        """A deadline so much earlier that a slow job controller has ended all placeholders by the one asked for.

        Never before half of the time is over: placeholders are renewed after a third of it.
        """
        return max(1, deadline_seconds - min(len(self._held) // ENDED_PER_SECOND, deadline_seconds * 5 // 12))

    def _use_spare(self, request: HoldRequest) -> bool:
        """Nominate a placeholder that stands idle, if there is one of this shape."""
        shape = _shape(request)
        for job, idle in self._spare.items():
            while idle and self._shapes[job] == shape:
                held = idle.pop()
                if self._nominate(held, request):
                    self._held[request.name] = held
                    return True
        return False

    def _nominate(self, held: _Placeholder, request: HoldRequest) -> bool:
        marks = {
            HOLD_ANNOTATION: request.name,
            NODE_ANNOTATION: request.node,
            EXPIRES_ANNOTATION: expiry(self._clock.now(), request.deadline_seconds),
        }
        return nominate(self._connection, self._namespace, held.pod, held.uid, request.node, annotations=marks)

    def _let_go(self, held: _Placeholder) -> bool:
        marks = {HOLD_ANNOTATION: None, NODE_ANNOTATION: None}
        return nominate(self._connection, self._namespace, held.pod, held.uid, None, annotations=marks)


def _shape(request: HoldRequest) -> Hashable:
    """What holds have in common that can share a Job."""
    return request._replace(name="", node="")


def _plan_of(groups: dict[Hashable, list[HoldRequest]]) -> str:
    """The plan of all requests; empty if they are of several."""
    plans = {request.plan_id for requests in groups.values() for request in requests}
    return plans.pop() if len(plans) == 1 else ""
