"""The rule that gates new pods of some owners, as the admission policy of a live cluster would, and its end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import structs

from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import EXPIRES, GUIDE_GATE, PLAN
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PodReference

RULE: Final = "rescheduler-guide"


class GateKeeper:
    """One rule at most is in force; it ends at its deadline unless it is renewed.

    A pod that was gated stays so until somebody takes the gate off, whatever becomes of the rule.
    """

    def __init__(self, store: ObjectStore, settings: SimulationSettings) -> None:
        self._store = store
        self._settings = settings
        self._owners: frozenset[str] = frozenset()
        self._plan_id = ""
        self._ends_at = 0.0
        store.on_admission(self._admit)

    def put(self, owners: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Put the rule in force, renew it, or take it away (no owners); ClusterError where another plan's stands."""
        if self._settings.cannot_gate is not None:
            raise ClusterError(self._settings.cannot_gate)
        if self._owners and self._plan_id != plan_id:
            raise ClusterError(f"the gate rule belongs to the plan {self._plan_id}, which runs; let that run end first")
        if not owners and not self._owners:
            return
        verb = "delete" if not owners else "update" if self._owners else "create"
        self._store.write(verb, "configmaps", self._settings.hold_namespace, RULE, ",".join(owners))
        # As on a live cluster the call returns once the rule is sure to be in force, or out of it.
        is_changed = frozenset(owners) != self._owners
        self._owners, self._plan_id = frozenset(owners), plan_id
        self._ends_at = self._store.clock.monotonic() + deadline_seconds
        self._store.clock.after(deadline_seconds, self._expire, is_background=True)
        self._store.clock.sleep(self._settings.gate_seconds if is_changed else self._settings.api_seconds)

    def let_go(self, reference: PodReference) -> bool:
        """Take the gate and its notes off exactly this pod; False if it is gone or another."""
        self._store.clock.sleep(self._settings.api_seconds)
        pod = self._store.pods.get(reference.key)
        if pod is None or (reference.uid and reference.uid != pod.uid):
            return False
        self._store.write("patch", "pods", pod.namespace, pod.name, GUIDE_GATE)
        if GUIDE_GATE in pod.scheduling_gates:
            self._store.put_pod(without_gate(pod))
        return True

    def _admit(self, pod: Pod) -> Pod:
        """What the admission policy makes of a pod that is being created."""
        owner = pod.controller
        if owner is None or owner.uid not in self._owners or pod.node_name is not None:
            return pod
        self._store.event("SchedulingGated", pod, f"waits at {GUIDE_GATE}")
        gates = tuple(dict.fromkeys((*pod.scheduling_gates, GUIDE_GATE)))
        seconds = self._ends_at - self._store.clock.monotonic()
        ends = datetime.fromtimestamp(self._store.clock.now() + seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        notes = {**pod.annotations, PLAN: self._plan_id, EXPIRES: ends}
        return structs.replace(pod, scheduling_gates=gates, annotations=notes)

    def _expire(self) -> None:
        # A renewed rule has a later end than the one this alarm was set for.
        if self._owners and self._ends_at <= self._store.clock.monotonic():
            self._owners = frozenset()


def without_gate(pod: Pod) -> Pod:
    """The pod as its owner made it, without our gate and what we noted on it."""
    gates = tuple(gate for gate in pod.scheduling_gates if gate != GUIDE_GATE)
    notes = {key: value for key, value in pod.annotations.items() if key not in (PLAN, EXPIRES)}
    return structs.replace(pod, scheduling_gates=gates, annotations=notes)
