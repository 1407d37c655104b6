"""Asks an autoscaler for single machines: one Job with one pending pod for each, which ends by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import OUR_REQUESTS, PLACEHOLDERS, objects_for
from rescheduler.adapters.kubernetes.autoscalers.capacity_target import KubernetesCapacity
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.paths import ensure_namespace, job_path, pod_path
from rescheduler.adapters.kubernetes.guidance.hold_jobs import HoldJobs, delete, list_all
from rescheduler.extension_points import Clock, ClusterError, MachineMarket
from rescheduler.model.daemon.capacity import BUYING, CAPACITY, AskedMachine, CapacityRequest

PATIENCE_SECONDS: Final = 30.0
"""How long the job controller may take to end the pods of Jobs that were deleted."""
PAUSE_SECONDS: Final = 0.2


class KubernetesMarket(MachineMarket):
    """What is asked for stands in one namespace. ``clock``: wall time, from which deadlines count."""

    def __init__(self, connection: Connection, namespace: str, clock: Clock) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock
        self._capacity = KubernetesCapacity(connection, namespace, clock)
        self._jobs = HoldJobs(connection, namespace, clock)
        self._name = ""
        self._names: list[str] = []

    def cannot(self) -> str | None:
        """Why no machine can be asked for here; None: some can. Raises ClusterError."""
        return self._capacity.cannot(PLACEHOLDERS)

    def of_others(self) -> Sequence[str]:
        """Names of requests for machines that stand, by their Jobs and pods. Raises ClusterError."""
        found = [
            str((item["metadata"].get("labels") or {}).get(CAPACITY, ""))
            for path in (job_path(self._namespace), pod_path(self._namespace))
            for item in list_all(self._connection, path, OUR_REQUESTS)
        ]
        return sorted({name for name in found if name.startswith(BUYING) and name != self._name})

    def ask(self, request: CapacityRequest, number: int | None = None) -> None:
        """Make a Job for each of the first so many shapes (None: for each) that has none yet.

        Raises ClusterError (some may stand).
        """
        ensure_namespace(self._connection, self._namespace)
        made = objects_for(request, self._namespace, self._clock.now())
        bodies = {item.body["metadata"]["name"]: item.body for item in made[len(self._names) : number]}
        # Known before the requests: where an answer is lost, the withdrawal finds the Job all the same.
        self._name, self._names = request.name, [*self._names, *bodies]
        for name, body in bodies.items():
            self._jobs.make(name, body)

    def renew(self, seconds: int) -> bool:
        """Give each Job its whole deadline again; False: one is gone. Raises ClusterError."""
        alive = [self._jobs.extend(name, seconds) for name in self._names]
        return all(alive)

    def asked(self) -> Sequence[AskedMachine]:
        """The pod of each Job, which may not be there yet. Raises ClusterError."""
        pods = {_job_of(pod): pod for pod in self._pods() if "deletionTimestamp" not in pod["metadata"]}
        return [_asked(pods.get(name)) for name in self._names]

    def withdraw(self) -> None:
        """Delete the Jobs, and wait until their pods are gone. Raises ClusterError."""
        for name in self._names:
            delete(self._connection, job_path(self._namespace, name))
        began = self._clock.monotonic()
        while self._names and self._pods():
            if self._clock.monotonic() - began > PATIENCE_SECONDS:
                raise ClusterError(f"the pods of Job {', '.join(self._names)} were not removed")
            self._clock.sleep(PAUSE_SECONDS)
        self._names = []

    def _pods(self) -> list[dict[str, Any]]:
        return list_all(self._connection, pod_path(self._namespace), f"{OUR_REQUESTS},{CAPACITY}={self._name}")


def _job_of(pod: dict[str, Any]) -> str:
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((str(owner.get("name", "")) for owner in owners if owner.get("controller")), "")


def _asked(pod: dict[str, Any] | None) -> AskedMachine:
    if pod is None or (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return AskedMachine(stands=False)
    return AskedMachine(True, (pod.get("spec") or {}).get("nodeName") or None)
