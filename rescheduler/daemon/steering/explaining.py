"""Explains pods and nodes on the newest snapshot, by the policy and the plan in force."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.disruption.eligibility_context import EVERYTHING
from rescheduler.explain import explain_node, explain_pod, find_node, find_pod
from rescheduler.extension_points import NOTHING_EARLIER, LedgerReading, ReschedulerError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan
from rescheduler.planning.lexicographic.document import summary_of
from rescheduler.policy.fields.policy import Policy
from rescheduler.report.explanation import Explanation
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers


class NoSnapshotError(ReschedulerError):
    """The cluster is not known yet."""


class Basis(NamedTuple):
    """What explanations go by. ``earlier``: the ledger as last read."""

    policy: Policy
    selection: Selection = EVERYTHING
    schedulers: Schedulers = DEFAULTS
    earlier: LedgerReading = NOTHING_EARLIER


class Explains(Protocol):
    """Answers "why"; asked from any thread."""

    def pod(self, namespace: str, name: str) -> Explanation:
        """Why a pod would or would not move. Raises NotInClusterError and NoSnapshotError."""

    def node(self, name: str) -> Explanation:
        """Why the pods of a node would or would not move. Raises NotInClusterError and NoSnapshotError."""


class Explaining(Explains):
    """By the newest snapshot and the newest plan, which may be a little older than it."""

    def __init__(self, state: Callable[[], DaemonState], basis: Callable[[], Basis]) -> None:
        self._state = state
        self._basis = basis

    def pod(self, namespace: str, name: str) -> Explanation:
        """Why a pod would or would not move. Raises NotInClusterError and NoSnapshotError."""
        cluster, plan = self._seen()
        found = find_pod(cluster, f"{namespace}/{name}")
        basis = self._basis()
        return explain_pod(cluster, basis.policy, basis.selection, plan, found, basis.schedulers, earlier=basis.earlier)

    def node(self, name: str) -> Explanation:
        """Why the pods of a node would or would not move. Raises NotInClusterError and NoSnapshotError."""
        cluster, plan = self._seen()
        found = find_node(cluster, name)
        basis = self._basis()
        return explain_node(
            cluster, basis.policy, basis.selection, plan, found, basis.schedulers, earlier=basis.earlier
        )

    def _seen(self) -> tuple[Cluster, Plan]:
        state = self._state()
        cluster = state.cluster
        if cluster is None:
            raise NoSnapshotError("the cluster is not known yet; ask again in a moment")
        plan = next((report.plan for report in reversed(state.rounds) if report.plan is not None), None)
        return cluster, Plan(summary_of(cluster)) if plan is None else plan
