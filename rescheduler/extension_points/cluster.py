"""What is read from a cluster, and asked of it; the real one and the embedded one answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rescheduler.model.daemon.account import Account, ApiRight
from rescheduler.model.daemon.capacity import AskedMachine, CapacityRequest, StandingRequest
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.endpoints import ServiceEndpoints
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import Resources
from rescheduler.model.objects.workload import Workload
from rescheduler.model.plan.detachment import Detachment
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity


class ClusterReader(Protocol):
    """Where snapshots come from."""

    def read(self) -> Cluster:
        """Take a snapshot. Raises SnapshotError or ClusterError."""


class EvictionAnswer(NamedTuple):
    """What the Eviction API said.

    ``kind``: Accepted, OwnerMoves (whoever owns the pod moves it himself), BudgetExhausted, BudgetNotObserved,
    WebhookDenied (not now), TooManyRequests, Gone, Conflict, Forbidden, TwoBudgets, Failed (unknown outcome).
    ``retry_after_seconds`` as the server asks.
    """

    kind: str
    message: str = ""
    retry_after_seconds: float | None = None


class HoldRequest(NamedTuple):
    """A hole to keep: a placeholder with these requests and priority, nominated to a node, until its deadline."""

    name: str
    node: str
    requests: Resources
    priority_class_name: str
    scheduler_name: str
    deadline_seconds: int
    plan_id: str


class ExecutionTarget(Protocol):
    """A cluster that a plan can be carried out on: the real one, or the simulated one."""

    def read(self) -> Cluster:
        """A fresh snapshot."""

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """The pod as it stands now (a live read), or None."""

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Ask for one eviction with uid and resourceVersion preconditions; never retries by itself."""

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """The pods of one namespace that a selector matches (None: all), as they stand now."""

    def read_lists(self, asked: Sequence[tuple[str, LabelSelector | None]]) -> Sequence[Sequence[Pod]]:
        """The same for several namespaces and selectors, in their order."""
        return [self.read_pods(namespace, selector) for namespace, selector in asked]

    def read_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """What one move depends on as it stands now, by narrow live reads; ``cluster``: the newest snapshot.

        Raises ClusterError where any of it cannot be read.
        """

    def foresee(self, move: Move, cluster: Cluster) -> None:  # noqa: ARG002 - for who can ask ahead
        """``read_vicinity`` and a dry run of this move are asked for next, if all goes well: they may begin by now.

        ``cluster``: as there. What comes of it later is the same as without, and as fresh as is told; never raises.
        """
        return  # a cluster of our own answers at once

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Make placeholders and nominate them; returns when all stand. Raises ClusterError (some may stand then)."""

    def renew(self, requests: Sequence[HoldRequest]) -> Sequence[str]:
        """Give placeholders their whole deadline again, counted from now; the names of those that are gone."""

    def release(self, names: Sequence[str]) -> None:
        """Remove placeholders, by the names they were requested with; returns when they are gone. Others are fine."""

    def can_hold(self) -> str | None:
        """None if placeholders work here, else the reason why not."""

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Set nominatedNodeName of a pending pod; False if it is bound, gone or another by now."""

    def withdraw_nomination(self, pod: PodReference, node: str) -> bool:
        """Take nominatedNodeName off a pending pod that is nominated to this node; False if it is not (any more)."""

    def can_gate(self) -> str | None:
        """None if new pods can be held at a scheduling gate here, else the reason why not."""

    def gate_replacements(self, owners: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """From now on, new pods of these owners (uids) get our scheduling gate; returns when that is in force.

        Replaces the owners of an earlier call; none: nothing is gated any more. What is not renewed by the next call
        ends by itself after the deadline. Raises ClusterError.
        """

    def ungate(self, pod: PodReference) -> bool:
        """Take our scheduling gate off a pod; False if the pod is gone or another by now. Raises ClusterError."""

    def can_taint(self) -> str | None:
        """None if nodes can be tainted here, else the reason why not."""

    def taint(self, nodes: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Put our own NoSchedule taint, with its expiry, on nodes, or renew it; nodes that are gone are fine.

        Raises TaintLostError for one that somebody took off meanwhile, ClusterError where another plan's stands.
        """

    def untaint(self, nodes: Sequence[str]) -> None:
        """Take our own taint off nodes; nodes without it, or gone, are fine. Raises ClusterError."""

    def can_surge(self) -> str | None:
        """None if pods can be taken out of their ReplicaSets here until others are Ready, else the reason why not."""

    def detach(self, pod: PodReference, resource_version: str, detachment: Detachment) -> bool:
        """Take exactly this pod, as it was read, out of its ReplicaSet; False if it has changed. Raises ClusterError.

        It serves on. In snapshots it stays one of its workload's pods, and carries our annotation.
        """

    def give_back(self, pod: PodReference) -> bool:
        """Undo ``detach``; False if there is nothing to give back. Raises ClusterError."""

    def read_endpoints(self, namespace: str) -> Sequence[ServiceEndpoints]:
        """Who answers for the Services of one namespace, as it stands now. Raises ClusterError."""

    def read_workload(self, known: Workload) -> Workload | None:
        """A workload of this kind, namespace and name as it stands now, or None. Raises ClusterError."""

    def leftovers(self) -> Sequence[str]:
        """Names of placeholders of ours that still exist."""

    def record(
        self, pod: PodReference, reason: str, message: str, *, action: str = "Reschedule", is_warning: bool = False
    ) -> None:
        """Tell of an act by an Event on the pod, maybe only after this returns; never raises."""

    def finish_telling(self) -> None:
        """Wait until everything that was recorded is told; at once where telling waits for nothing."""
        return


class CapacityTarget(Protocol):
    """Where an autoscaler is asked for room, and nodes are offered to it. ``how``: as the policy names it."""

    def cannot(self, how: str) -> str | None:
        """Why a way is not to be had here (an API that is not served, a right that is missing); None if it is."""

    def ask(self, request: CapacityRequest) -> None:
        """Make a request; one of that name that stands already is fine. Raises ClusterError."""

    def standing(self, how: str) -> Sequence[StandingRequest]:
        """Every request of ours that stands, whichever process has made it. Raises ClusterError."""

    def withdraw(self, how: str, names: Sequence[str]) -> None:
        """Take requests back, with all that belongs to them; those that are gone are fine. Raises ClusterError."""

    def offer(self, nodes: Sequence[str], how: str, until: float) -> None:
        """Mark nodes as emptied, or renew the mark; nodes that are gone are fine. Raises ClusterError."""

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Keep emptied nodes empty by placeholders; returns when they stand. Raises ClusterError (some may stand)."""

    def renew(self, requests: Sequence[HoldRequest]) -> Sequence[str]:
        """Give them their whole deadline again; the names of those that are gone. Raises ClusterError."""

    def release(self, names: Sequence[str]) -> None:
        """Remove them; others are fine. Raises ClusterError."""

    def take_back(self, nodes: Sequence[str]) -> None:
        """Take our marks of emptied nodes off; nodes without, or gone, are fine. Raises ClusterError."""


class MachineMarket(Protocol):
    """Where machines are asked for, each by a pod that waits for it; one request at a time."""

    def cannot(self) -> str | None:
        """Why no machine can be asked for here; None: some can. Raises ClusterError."""

    def of_others(self) -> Sequence[str]:
        """Names of such requests that stand, whichever process has made them. Raises ClusterError."""

    def ask(self, request: CapacityRequest, number: int | None = None) -> None:
        """Ask for the first so many of the request's shapes (None: for all) that do not stand yet, until it expires.

        Raises ClusterError (some may be asked for).
        """

    def renew(self, seconds: int) -> bool:
        """Let what was asked for stand for so long from now on; False: some is gone. Raises ClusterError."""

    def asked(self) -> Sequence[AskedMachine]:
        """How far each has come, in the order of the request's shapes. Raises ClusterError."""

    def withdraw(self) -> None:
        """Take everything back that was asked for; returns when the pods are gone. Raises ClusterError."""


class AccessReviewer(Protocol):
    """Who shows a token, and what he may do, as the cluster itself says; asked from many threads."""

    def account_of(self, token: str) -> Account | None:
        """Whose token it is; None where it is not accepted. Raises ClusterError where nobody can be asked."""

    def allows(self, account: Account, right: ApiRight) -> bool:
        """Whether the account has a right. Raises ClusterError where nobody can be asked."""
