"""Placeholders on a live cluster: made through Jobs that die by themselves, renewed, removed, found again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.failures import NotServedError, refusal
from rescheduler.adapters.kubernetes.nominations import MERGE_PATCH, nominate
from rescheduler.adapters.kubernetes.paths import job_path, namespace_path, pod_path
from rescheduler.adapters.kubernetes.placeholders import (
    EXPIRES_ANNOTATION,
    HOLD_LABEL,
    OUR_PLACEHOLDERS,
    PLAN_LABEL,
    expiry,
    placeholder,
)
from rescheduler.extension_points import Clock, ClusterError, HoldRequest
from rescheduler.model.annotations import HOLD_GATE, MANAGED_BY, OURS

PATIENCE_SECONDS: Final = 30.0
"""How long the job controller may take to make or remove the placeholder pods."""
PAUSE_SECONDS: Final = 0.02
LONGEST_PAUSE_SECONDS: Final = 0.5
BACKGROUND: Final = {"propagationPolicy": "Background"}


class HoldKeeper:
    """Placeholders in one namespace, which is made when it is missing and we may."""

    def __init__(self, connection: Connection, namespace: str, clock: Clock) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock
        self._born: dict[str, float] = {}
        self._pods: dict[str, tuple[str, str]] = {}

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Make placeholders and nominate them; returns when all stand. Raises ClusterError."""
        if not requests:
            return
        self._ensure_namespace()
        for request in requests:
            self._create(request)
        for request, (name, uid) in self._await_pods(requests).items():
            self._pods[request.name] = (name, uid)
            if not nominate(self._connection, self._namespace, name, uid, request.node):
                raise ClusterError(f"placeholder {self._namespace}/{name} was gone before it could be nominated")

    def renew(self, requests: Sequence[HoldRequest]) -> list[str]:
        """Give placeholders their whole deadline again; names of those that are gone. Raises ClusterError.

        Nominating the pod again also restores a hold that a restarted scheduler has forgotten.
        """
        gone = []
        for request in requests:
            now = self._clock.monotonic()
            age = now - self._born.get(request.name, now)
            expires = expiry(self._clock.now(), request.deadline_seconds)
            body = {
                "metadata": {"annotations": {EXPIRES_ANNOTATION: expires}},
                "spec": {"activeDeadlineSeconds": int(age) + request.deadline_seconds},
            }
            path = job_path(self._namespace, request.name)
            answer = self._connection.send("PATCH", path, body, content_type=MERGE_PATCH)
            if answer.status >= 300 and answer.status != 404:
                raise refusal(self._connection.server, "", "PATCH", path, answer.status, answer.body)
            name, uid = self._pods.get(request.name, ("", ""))
            marks = {EXPIRES_ANNOTATION: expires}
            if answer.status == 404 or not nominate(
                self._connection, self._namespace, name, uid, request.node, annotations=marks
            ):
                gone.append(request.name)
        return gone

    def release(self, names: Sequence[str]) -> None:
        """Remove placeholders and wait until their pods are gone; others are fine. Raises ClusterError."""
        for name in names:
            delete(self._connection, job_path(self._namespace, name))
        wanted = set(names)
        self._until(
            lambda: wanted.isdisjoint(self._pods_by_hold()),
            f"the placeholders {', '.join(names)} were not removed",
        )

    def names(self) -> list[str]:
        """Names of all placeholders of ours in the namespace, of any plan; of their Jobs or of pods left alone."""
        jobs = self._list(job_path(self._namespace))
        return sorted({item["metadata"]["name"] for item in jobs} | set(self._pods_by_hold()))

    def _create(self, request: HoldRequest) -> None:
        path = job_path(self._namespace)
        answer = self._connection.send("POST", path, placeholder(request, self._namespace, self._clock.now()))
        if answer.status >= 300:
            raise refusal(self._connection.server, "", "POST", path, answer.status, answer.body)
        self._born[request.name] = self._clock.monotonic()
        made = msgspec.json.decode(answer.body)
        gates = made["spec"]["template"]["spec"].get("schedulingGates") or []
        if HOLD_GATE not in [gate["name"] for gate in gates]:
            delete(self._connection, job_path(self._namespace, request.name))
            raise ClusterError("this API server drops scheduling gates, so placeholders cannot be used on it")

    def _await_pods(self, requests: Sequence[HoldRequest]) -> dict[HoldRequest, tuple[str, str]]:
        """Name and uid of each placeholder's pod, once the job controller has made it."""
        found: dict[str, dict[str, Any]] = {}

        def all_stand() -> bool:
            found.update(self._pods_by_hold(plan_id=requests[0].plan_id))
            return all(request.name in found for request in requests)

        self._until(
            all_stand,
            f"the job controller made no pods for the placeholders in namespace {self._namespace}; "
            "the events of these Jobs say why",
        )
        pods = {request: found[request.name]["metadata"] for request in requests}
        return {request: (pod["name"], pod["uid"]) for request, pod in pods.items()}

    def _pods_by_hold(self, plan_id: str = "") -> dict[str, dict[str, Any]]:
        """Placeholder pods that stand, by the name of their hold."""
        pods = self._list(pod_path(self._namespace), plan_id)
        return {pod["metadata"]["labels"][HOLD_LABEL]: pod for pod in pods}

    def _list(self, path: str, plan_id: str = "") -> list[dict[str, Any]]:
        selector = f"{OUR_PLACEHOLDERS},{PLAN_LABEL}={plan_id}" if plan_id else OUR_PLACEHOLDERS
        return list_all(self._connection, path, selector)

    def _until(self, is_so: Callable[[], bool], otherwise: str) -> None:
        began = self._clock.monotonic()
        pause = PAUSE_SECONDS
        while not is_so():
            if self._clock.monotonic() - began > PATIENCE_SECONDS:
                raise ClusterError(f"{otherwise} within {PATIENCE_SECONDS:.0f} s")
            self._clock.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)

    def _ensure_namespace(self) -> None:
        """Make the namespace of placeholders if it is missing: ``deploy/rbac.yaml`` brings it, a first try does not."""
        try:
            self._connection.get(namespace_path(self._namespace))
        except NotServedError:
            body = {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": self._namespace, "labels": {MANAGED_BY: OURS}},
            }
            answer = self._connection.send("POST", namespace_path(), body)
            if answer.status >= 300 and answer.status != 409:
                raise refusal(
                    self._connection.server, "", "POST", namespace_path(), answer.status, answer.body
                ) from None


def list_all(connection: Connection, path: str, selector: str) -> list[dict[str, Any]]:
    """All objects of a collection with these labels; none where the namespace does not exist. Raises ClusterError."""
    body = connection.get(path, {"labelSelector": selector})
    items: list[dict[str, Any]] = msgspec.json.decode(body).get("items") or []
    return items


def delete(connection: Connection, path: str) -> bool:
    """Delete an object and, in the background, what it owns; False if it was gone. Raises ClusterError."""
    answer = connection.send("DELETE", path, BACKGROUND)
    if answer.status == 404:
        return False
    if answer.status >= 300:
        raise refusal(connection.server, "", "DELETE", path, answer.status, answer.body)
    return True
