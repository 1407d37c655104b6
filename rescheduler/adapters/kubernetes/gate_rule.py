"""The rule that gates new pods, while one plan runs: put in force, renewed, taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.failures import NotServedError
from rescheduler.adapters.kubernetes.gate_probe import GateProbe
from rescheduler.adapters.kubernetes.hold_jobs import HoldJobs, delete
from rescheduler.adapters.kubernetes.paths import job_path
from rescheduler.adapters.kubernetes.placeholders import expiry, placeholder
from rescheduler.adapters.kubernetes.rule_object import (
    RULE,
    jobs_of,
    plan_of,
    read_rule,
    remove_rule,
    rule_object,
    write_rule,
)
from rescheduler.extension_points import Clock, ClusterError, HoldRequest

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
        return name, self._jobs.make(name, body)["metadata"]["uid"]

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
