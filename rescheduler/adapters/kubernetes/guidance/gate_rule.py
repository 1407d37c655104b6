"""The rule that gates new pods, while one plan runs: put in force, renewed, taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded
from rescheduler.adapters.kubernetes.client.failures import NotServedError, refusal
from rescheduler.adapters.kubernetes.client.paths import job_path, pod_path
from rescheduler.adapters.kubernetes.guidance.hold_jobs import HoldJobs, delete
from rescheduler.adapters.kubernetes.guidance.placeholders import expiry, placeholder
from rescheduler.adapters.kubernetes.guidance.rule_object import (
    RULE,
    jobs_of,
    plan_of,
    read_rule,
    remove_rule,
    rule_object,
    write_rule,
)
from rescheduler.extension_points import Clock, ClusterError, HoldRequest
from rescheduler.model.objects.annotations import GUIDE_GATE, HOLD_GATE

# Finds out whether the gate rule bites: a pod that is created for the look of it only (server-side dry run).

PATIENCE_SECONDS: Final = 15.0
"""A policy that was just installed may take ten seconds to come into force, a changed parameter a third of one."""
PAUSE_SECONDS: Final = 0.05


class _Gate(msgspec.Struct, gc=False):
    name: str = ""


class _ProbedSpec(msgspec.Struct, gc=False):
    gates: list[_Gate] | None = msgspec.field(name="schedulingGates", default=None)


class _ProbedPod(msgspec.Struct, gc=False):
    spec: _ProbedSpec


class GateProbe:
    """Asks the API server what it would make of a new pod. Nothing is ever created."""

    def __init__(self, connection: Connection, namespace: str, clock: Clock) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock

    def wait(self, name: str, owner: str, *, is_gated: bool) -> None:
        """Return when a new pod of this owner (uid) would be gated, or not be. Raises ClusterError."""
        began = self._clock.monotonic()
        while self._is_gated(name, owner) is not is_gated:
            if self._clock.monotonic() - began > PATIENCE_SECONDS:
                raise ClusterError(
                    f"the admission policy of deploy/guide.yaml does not gate new pods {PATIENCE_SECONDS:.0f} s after "
                    "it was told to"
                    if is_gated
                    else f"new pods are still gated {PATIENCE_SECONDS:.0f} s after the gate rule was taken away"
                )
            self._clock.sleep(PAUSE_SECONDS)

    def _is_gated(self, name: str, owner: str) -> bool:
        path = pod_path(self._namespace)
        answer = self._connection.send("POST", path, self._pod(name, owner), params={"dryRun": "All"})
        if answer.status >= 300:
            raise refusal(self._connection.server, "", "POST", path, answer.status, answer.body)
        found = decoded(self._connection, f"POST {path}", answer.body, _ProbedPod)
        gates = {gate.name for gate in found.spec.gates or ()}
        if HOLD_GATE not in gates:
            raise ClusterError("new pods lose the scheduling gates they were created with; no pod can be guided here")
        return GUIDE_GATE in gates

    def _pod(self, name: str, owner: str) -> dict[str, Any]:
        """A pod as a placeholder is one: what a strict admission lets through there, it lets through here."""
        request = HoldRequest(name, "", (), "", "default-scheduler", 1, "probe")
        template = placeholder([request], name, self._namespace, self._clock.now())["spec"]["template"]
        reference = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": owner, "controller": True}
        metadata = {"name": f"{name}-probe", "namespace": self._namespace, "ownerReferences": [reference]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


ATTEMPTS: Final = 5


class GateRule:
    """The rule of one process; there is one ConfigMap on a cluster, so one plan at a time."""

    def __init__(self, connection: Connection, namespace: str, clock: Clock) -> None:
        self._connection = connection
        self._namespace = namespace
        self._clock = clock
        self._jobs = HoldJobs(connection, namespace, clock)
        self._probe = GateProbe(connection, namespace, clock)
        self._job: tuple[str, str] | None = None
        self._owners: list[str] = []
        self._made = self._changes = 0

    def put(self, owners: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Gate new pods of these owners (uids) and of no others from the return of this call on; renews what stands.

        Raises ClusterError where another plan's rule stands, where ours was taken away, or where it does not bite.
        """
        if self._job is None or not self._job[1]:
            self._jobs.ensure_namespace()
            self._job = self._new_job(plan_id, deadline_seconds)
        elif not self._jobs.extend(self._job[0], deadline_seconds):
            raise ClusterError(f"somebody removed the Job {self._namespace}/{self._job[0]}, and with it the gate rule")
        is_new = list(owners) != self._owners
        if is_new:
            self._changes += 1
        expires = expiry(self._clock.now(), deadline_seconds)
        listed = [self._probe_uid, *owners]
        self._write(rule_object(self._namespace, self._job, listed, plan_id, expires))
        if is_new:
            self._owners = list(owners)
            self._probe.wait(self._job[0], self._probe_uid, is_gated=True)

    def end(self) -> None:
        """Gate nothing any more from the return of this call on. Raises ClusterError."""
        if self._job is None:
            return
        name, uid = self._job
        live = read_rule(self._connection, self._namespace)
        if live is not None and uid in jobs_of(live):
            remove_rule(self._connection, self._namespace, live)
        delete(self._connection, job_path(self._namespace, name))
        if uid:
            self._probe.wait(name, self._probe_uid, is_gated=False)
        self._job, self._owners = None, []

    @property
    def _probe_uid(self) -> str:
        """An owner that is nobody's, and another one with each change: a probe of it tells what is in force."""
        assert self._job is not None
        return f"{self._job[1]}-{self._changes}"

    def _new_job(self, plan_id: str, deadline_seconds: int) -> tuple[str, str]:
        """A Job without pods: nothing but a deadline that the cluster's own controllers keep."""
        name = f"guide-{plan_id}-{self._made}"
        self._made += 1
        self._job = (name, "")  # known before the request: where its answer is lost, ``end`` removes it
        request = HoldRequest(name, "", (), "", "default-scheduler", deadline_seconds, plan_id)
        body = placeholder([request], name, self._namespace, self._clock.now())
        body["spec"]["parallelism"] = 0
        uid = self._jobs.make(name, body).metadata.uid
        if not uid:
            raise ClusterError(f"{self._connection.server} did not tell the uid of the Job {self._namespace}/{name}")
        return name, uid

    def _write(self, body: dict[str, Any]) -> None:
        for _ in range(ATTEMPTS):
            live = read_rule(self._connection, self._namespace)
            if live is not None:
                self._refuse_foreign(live)
            if write_rule(self._connection, body, live):
                return
        raise ClusterError(f"the ConfigMap {self._namespace}/{RULE} is changed by others all the time")

    def _refuse_foreign(self, live: dict[str, Any]) -> None:
        """Raises ClusterError for the rule of a plan that still runs; one without its Job is nobody's."""
        assert self._job is not None
        jobs = jobs_of(live)
        if self._job[1] in jobs or not any(self._stands(name) for name in jobs.values()):
            return
        raise ClusterError(
            f"the ConfigMap {self._namespace}/{RULE} belongs to the plan {plan_of(live) or 'unknown'}, which runs; let "
            "that run end first"
        )

    def _stands(self, job: str) -> bool:
        try:
            self._connection.get(job_path(self._namespace, job))
        except NotServedError:
            return False
        return True
