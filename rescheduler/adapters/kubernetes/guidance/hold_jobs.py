"""The Jobs that make placeholder pods: created, given more time, deleted, found again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import NamedObjects, decoded, decoded_whole, require_done
from rescheduler.adapters.kubernetes.client.failures import NotServedError, refusal
from rescheduler.adapters.kubernetes.client.patching import MERGE_PATCH
from rescheduler.adapters.kubernetes.client.paths import ALL_JOBS, ensure_namespace, job_path, pod_path
from rescheduler.adapters.kubernetes.guidance.placeholders import (
    EXPIRES_ANNOTATION,
    HOLD_LABEL,
    OUR_PLACEHOLDERS,
    PLAN_LABEL,
    expiry,
    placeholder,
)
from rescheduler.extension_points import Clock, ClusterError, HoldRequest
from rescheduler.model.objects.annotations import HOLD_GATE, MANAGED_BY, OURS
from rescheduler.model.objects.pod import Pod

PATIENCE_SECONDS: Final = 30.0
"""How long the job controller may take to make or remove placeholder pods, besides the time for each of them."""
PATIENCE_PER_POD_SECONDS: Final = 0.2
PAUSE_SECONDS: Final = 0.02
LONGEST_PAUSE_SECONDS: Final = 0.5
TOLD_SECONDS: Final = 2.0
"""So long a watch is waited for to tell of placeholders that come and go, before the server itself is asked."""
BACKGROUND: Final = {"propagationPolicy": "Background"}


class _Gate(msgspec.Struct, gc=False):
    name: str = ""


class _PodSpec(msgspec.Struct, gc=False):
    gates: list[_Gate] | None = msgspec.field(name="schedulingGates", default=None)


class _Template(msgspec.Struct, gc=False):
    spec: _PodSpec


class _JobSpec(msgspec.Struct, gc=False):
    template: _Template


class _Metadata(msgspec.Struct, gc=False):
    uid: str = ""


class MadeJob(msgspec.Struct, gc=False):
    """A Job as the server has made it."""

    metadata: _Metadata
    spec: _JobSpec


Told = Callable[[], Sequence[Pod] | None]
"""The pods of the placeholders' namespace as a watch has told of them so far; None: nobody watches them."""


class HoldJobs:
    """Placeholder Jobs in one namespace, which is made when it is missing and we may."""

    def __init__(self, connection: Connection, namespace: str, clock: Clock, told: Told = lambda: None) -> None:
        self._connection = connection
        self._told = told
        self._namespace = namespace
        self._clock = clock
        self._born: dict[str, float] = {}

    def create(self, requests: Sequence[HoldRequest], name: str) -> None:
        """Make one Job of equal placeholders. Raises ClusterError."""
        made = self.make(name, placeholder(requests, name, self._namespace, self._clock.now()))
        if HOLD_GATE not in [gate.name for gate in made.spec.template.spec.gates or ()]:
            delete(self._connection, job_path(self._namespace, name))
            raise ClusterError("this API server drops scheduling gates, so placeholders cannot be used on it")

    def make(self, name: str, body: dict[str, Any]) -> MadeJob:
        """Make a Job as it is written, and return it as the server has it.

        Raises ClusterError, also where the Job may have been made and the answer cannot be read.
        """
        path = job_path(self._namespace)
        answer = self._connection.send("POST", path, body)
        if answer.status >= 300:
            raise refusal(self._connection.server, "", "POST", path, answer.status, answer.body)
        self._born[name] = self._clock.monotonic()
        return decoded(self._connection, f"POST {path}", answer.body, MadeJob)

    def await_pods(self, sizes: dict[str, int], plan_id: str) -> dict[str, list[tuple[str, str]]]:
        """Name and uid of the pods of new Jobs, by Job, once the job controller has made all of them."""
        found: dict[str, list[tuple[str, str]]] = {}
        began = self._clock.monotonic()

        def all_stand() -> bool:
            found.clear()
            found.update(self._pods_by_job(began, plan_id))
            return all(len(found.get(name, ())) >= size for name, size in sizes.items())

        self._until(
            all_stand,
            sum(sizes.values()),
            f"the job controller made no pods for the placeholders in namespace {self._namespace}; "
            "the events of these Jobs say why",
        )
        return found

    def extend(self, name: str, deadline_seconds: int) -> bool:
        """Give a Job its whole deadline again; False if it is gone. Raises ClusterError."""
        now = self._clock.monotonic()
        age = now - self._born.get(name, now)
        body = {
            "metadata": {"annotations": {EXPIRES_ANNOTATION: expiry(self._clock.now(), deadline_seconds)}},
            "spec": {"activeDeadlineSeconds": int(age) + deadline_seconds},
        }
        path = job_path(self._namespace, name)
        answer = self._connection.send("PATCH", path, body, content_type=MERGE_PATCH)
        if answer.status == 404:
            return False
        require_done(self._connection, "PATCH", path, answer)
        return True

    def delete(self, names: Iterable[str]) -> None:
        """Remove Jobs and wait until their pods are gone; others are fine. Raises ClusterError."""
        wanted = sorted(names)
        if not wanted:
            return
        for name in wanted:
            delete(self._connection, job_path(self._namespace, name))
        began = self._clock.monotonic()
        self._until(
            lambda: not any(job in wanted for job in self._pods_by_job(began)),
            sum(map(len, self._pods_by_job(began).values())),
            f"the placeholders {', '.join(wanted)} were not removed",
        )

    def pods(self, selector: str = OUR_PLACEHOLDERS) -> list[dict[str, Any]]:
        """Placeholder pods that stand."""
        return list_all(self._connection, pod_path(self._namespace), selector)

    def names(self, selector: str) -> list[str]:
        """Names of the Jobs that stand, and of Jobs that are gone although pods of them stand."""
        jobs = list_all(self._connection, job_path(self._namespace), selector)
        return sorted({item["metadata"]["name"] for item in jobs} | {self._job_of(pod) for pod in self.pods(selector)})

    def ensure_namespace(self) -> None:
        """Make the namespace of placeholders if it is missing. Raises ClusterError."""
        ensure_namespace(self._connection, self._namespace)

    def _pods_by_job(self, since: float, plan_id: str = "") -> dict[str, list[tuple[str, str]]]:
        """Name and uid of each placeholder pod, by Job. ``since``: when the wait for what they show began."""
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        told = self._told() if self._clock.monotonic() - since < TOLD_SECONDS else None
        if told is not None:
            for item in told:
                if item.labels.get(MANAGED_BY) == OURS and HOLD_LABEL in item.labels:
                    found[item.labels[HOLD_LABEL]].append((item.name, item.uid))
            return found
        selector = f"{OUR_PLACEHOLDERS},{PLAN_LABEL}={plan_id}" if plan_id else OUR_PLACEHOLDERS
        for pod in self.pods(selector):
            found[self._job_of(pod)].append((pod["metadata"]["name"], pod["metadata"]["uid"]))
        return found

    @staticmethod
    def _job_of(pod: dict[str, Any]) -> str:
        return str((pod["metadata"].get("labels") or {}).get(HOLD_LABEL, ""))

    def _until(self, is_so: Callable[[], bool], count: int, otherwise: str) -> None:
        began = self._clock.monotonic()
        patience = PATIENCE_SECONDS + PATIENCE_PER_POD_SECONDS * count
        pause = PAUSE_SECONDS
        while not is_so():
            if self._clock.monotonic() - began > patience:
                raise ClusterError(f"{otherwise} within {patience:.0f} s")
            self._clock.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)


def our_jobs(connection: Connection, namespace: str) -> list[dict[str, Any]]:
    """Jobs of any plan, in all namespaces or in this one where we may not list all. Raises ClusterError."""
    return list_ours(connection, ALL_JOBS, job_path(namespace))


def list_ours(connection: Connection, everywhere: str, here: str) -> list[dict[str, Any]]:
    """What carries our label, by the second path where the first may not be listed. Raises ClusterError."""
    try:
        return list_all(connection, everywhere, OUR_PLACEHOLDERS)
    except NotServedError:
        raise
    except ClusterError:
        return list_all(connection, here, OUR_PLACEHOLDERS)


def list_all(connection: Connection, path: str, selector: str) -> list[dict[str, Any]]:
    """All objects of a collection with these labels; none where the namespace does not exist. Raises ClusterError."""
    body = connection.get(path, {"labelSelector": selector})
    items: list[dict[str, Any]] | None = decoded_whole(connection, f"GET {path}", body, NamedObjects)["items"]
    return items or []


def delete(connection: Connection, path: str) -> bool:
    """Delete an object and, in the background, what it owns; False if it was gone. Raises ClusterError."""
    answer = connection.send("DELETE", path, BACKGROUND)
    if answer.status == 404:
        return False
    require_done(connection, "DELETE", path, answer)
    return True


def delete_unchanged(connection: Connection, path: str, found: dict[str, Any]) -> bool:
    """Delete an object that nobody has changed since it was read; False if somebody has. Raises ClusterError."""
    metadata = found["metadata"]
    body = {**BACKGROUND, "preconditions": {key: metadata[key] for key in ("uid", "resourceVersion")}}
    answer = connection.send("DELETE", path, body)
    if answer.status in (404, 409):
        return False
    require_done(connection, "DELETE", path, answer)
    return True
