"""Every place where a plugin or an adapter fits in, and the errors that cross it.

One file on purpose, however long: a newcomer learns on one page what may be swapped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from pydantic import BaseModel

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.daemon.account import Account, ApiRight
from rescheduler.model.daemon.capacity import CapacityRequest, StandingRequest
from rescheduler.model.daemon.lease import LeaseReading, LeaseRecord
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger, LedgerEntry
from rescheduler.model.daemon.notices import Notice
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.endpoints import ServiceEndpoints
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import Resources
from rescheduler.model.objects.workload import Workload
from rescheduler.model.plan.detachment import Detachment
from rescheduler.model.plan.move_change import MoveChange
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PlanResult, PodReference, Refusal
from rescheduler.model.plan.vicinity import Vicinity
from rescheduler.model.usage.samples import MetricsSample, NodeSamples


class ReschedulerError(Exception):
    """An error that a user can act on: the text names what was found, what was wanted, where, and the choices."""


class SnapshotError(ReschedulerError):
    """A recording cannot be used: names file, object and field."""


class ClusterError(ReschedulerError):
    """The API server cannot be reached, refuses, or answers something unusable."""


class NotSentError(ClusterError):
    """A write that we refused ourselves, right before it would have been sent: nothing has happened."""


class TaintLostError(ClusterError):
    """Somebody took our own taint off a node that a plan keeps closed; it is not put back against him."""


class MetricsError(ReschedulerError):
    """A metrics provider cannot be asked, refuses, or answers something unusable: names provider and address."""


class LedgerDeniedError(ClusterError):
    """We may not read or write the ledger on the cluster; it may be kept elsewhere instead."""


class LedgerLostError(ClusterError):
    """What was written down of earlier evictions is not there any more, or not all of it: nothing may be evicted."""


class LedgerFullError(NotSentError):
    """There is no room in the ledger for another eviction; nothing was written."""


class StoreError(ReschedulerError):
    """A file of ours cannot be written (a full disk, say) or opened."""


class ExecutionError(ReschedulerError):
    """A plan had to stop."""


class ExecutionInterruptedError(ExecutionError):
    """A person or a signal stopped a plan: holds are released, ``result`` says what was done, open, not started."""

    def __init__(self, message: str, result: PlanResult) -> None:
        super().__init__(message)
        self.result = result


class Clock(Protocol):
    """Time, injected: nothing below the adapters reads the real one."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds on a clock that never jumps."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class ClusterReader(Protocol):
    """Where snapshots come from."""

    def read(self) -> Cluster:
        """Take a snapshot. Raises SnapshotError or ClusterError."""


class MetricsProvider(Protocol):
    """Where measured use comes from; one class each, ours in ``adapters/metrics``."""

    name: str
    """As the policy names it."""
    arguments: ClassVar[type[BaseModel]]
    """What may stand under its ``args``: a ``PolicyModel``, whose texts say what the provider and each argument do."""

    @classmethod
    def made(cls, arguments: Any, context: Any) -> Self:
        """The provider of its arguments and a ``ProviderContext``; sends nothing yet. Raises MetricsError."""

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """The newest sample of these nodes, and of all pods if asked for. Raises MetricsError, never anything else.

        What the source does not know is NaN, never 0.
        """

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples | None:
        """Earlier samples at regular times, oldest first; None where the source keeps none. Raises MetricsError."""


class UsageStore(Protocol):
    """Keeps node samples over a restart."""

    def append(self, samples: NodeSamples) -> None:
        """Keep samples; on return they survive a kill. Raises StoreError; what was kept before stays."""

    def restore(self, since: float) -> Sequence[NodeSamples]:
        """Kept samples not older than ``since``, oldest first, one for each set of nodes in use at that time."""

    def close(self) -> None:
        """Let go of the file."""


class Rejection(NamedTuple):
    """Nodes that a filter refuses for one reason, in the scheduler's own words; ``nodes`` may be empty.

    ``is_resolvable``: evicting other pods could help. ``scope``: "node" for a refusal found node by node, "selection"
    for nodes that the pod rules out beforehand, "pod" for a fault of the pod itself, which holds for all nodes.
    """

    reason: str
    nodes: BoolArray
    is_resolvable: bool = True
    scope: str = "node"


class Filter(Protocol):
    """May this pod sit on this node? One kube-scheduler predicate."""

    name: str
    is_static: bool
    """True if the verdict depends on pod and node objects alone, not on where other pods sit."""

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Reasons against nodes for a pod, which is never in its own way; a node that no reason names passes."""


class Score(Protocol):
    """Where would the scheduler put this pod? One kube-scheduler score, 0 to 100 after normalisation."""

    name: str

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Normalised scores int64[N]; values of infeasible nodes mean nothing."""

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """For each of these feasible nodes how its score comes about, in words and numbers; ends with the score."""


class EvictionAnswer(NamedTuple):
    """What the Eviction API said.

    ``kind``: Accepted, BudgetExhausted, BudgetNotObserved, TooManyRequests, Gone, Conflict, Forbidden, TwoBudgets,
    Failed (unknown outcome). ``retry_after_seconds`` as the server asks.
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


class LedgerReading(NamedTuple):
    """The ledger as it stands. ``version``: what ``LedgerStore.write`` has to be given; "" where none exists yet.

    ``stop``: why nothing may be evicted any more, where somebody has marked the ledger so. ``approved``: the number of
    the plan that somebody has approved by a mark on the ledger, "" where there is none. ``uid``: of the object that
    holds it: another one that takes its place has another uid.
    """

    ledger: Ledger
    version: str
    stop: str | None = None
    approved: str = ""
    uid: str = ""


NOTHING_EARLIER = LedgerReading(EMPTY_LEDGER, "")
"""What is known where nobody has written anything down."""


class LedgerStore(Protocol):
    """Where the ledger is kept: one object that several processes may want to change."""

    def read(self) -> LedgerReading:
        """A live read; an empty ledger where there is none yet. Raises ClusterError, also for one that is unreadable.

        StoreError where it is kept in a file of ours.
        """

    def write(self, ledger: Ledger, version: str) -> str | None:
        """Replace the ledger if it still is at ``version``; its new version, or None if somebody else was faster.

        Raises ClusterError (OutcomeUnknownError among them: read again, the ledger itself tells).
        """


class LeaseStore(Protocol):
    """Where the record of who leads is kept: one object that several processes want to change."""

    def read(self) -> LeaseReading | None:
        """A live read; None where there is none. Raises ClusterError, and never waits for long."""

    def create(self, record: LeaseRecord) -> LeaseReading | None:
        """Make the record; None if somebody else was faster. Raises ClusterError as ``update``."""

    def update(self, record: LeaseRecord, version: str) -> LeaseReading | None:
        """Replace the record if it still is at ``version``; None if it is not, or is gone.

        Raises ClusterError; that it was not written is not said by it: read again, the record itself tells.
        """


class AuditLog(Protocol):
    """A record of every eviction on the disk of the process that sends it."""

    def note(self, entries: Sequence[LedgerEntry]) -> None:
        """Write down entries as they stand now; on return they survive a kill. Raises StoreError.

        Without entries: find out whether something could be written.
        """


class Gate(Protocol):
    """May these moves start now? Asked on a fresh snapshot right before the evictions of a wave."""

    def permit(
        self,
        moves: Sequence[Move],
        cluster: Cluster,
        sent: Sequence[PodReference],
        ledger: Ledger = EMPTY_LEDGER,
    ) -> Sequence[Permit | Refusal]:
        """One answer for each move, in order.

        ``cluster``: read just now; its ``taken_at`` is the time of every window. ``sent``: pods of this plan whose
        eviction was sent already, in whatever wave, the outcome unknown included; each counts as missing until its
        workload is complete again. ``ledger``: as it stands, with the debts of other plans and processes.
        """


class AccessReviewer(Protocol):
    """Who shows a token, and what he may do, as the cluster itself says; asked from many threads."""

    def account_of(self, token: str) -> Account | None:
        """Whose token it is; None where it is not accepted. Raises ClusterError where nobody can be asked."""

    def allows(self, account: Account, right: ApiRight) -> bool:
        """Whether the account has a right. Raises ClusterError where nobody can be asked."""


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


class Trigger(Protocol):
    """Is it time for a round? Triggers only ask: the gate decides what may be done. One class each, pure.

    Made from its arguments and a ``Setting`` (policy, time of the start, a seeded source of chance).
    """

    name: str
    """As the policy names it."""
    arguments: ClassVar[type[BaseModel]]
    """What may stand under its ``args``: a ``PolicyModel``, whose texts say what the trigger and each argument do."""

    def __init__(self, args: Any, setting: Any) -> None:
        """As it is when the process starts."""

    @classmethod
    def sentence(cls, args: Any) -> str:
        """When it asks, for ``check``, which says: runs a round ..."""

    @classmethod
    def warnings(cls, args: Any, policy: Any) -> Iterable[str]:  # noqa: ARG003
        """For ``check``: why nothing may come of it under a policy."""
        return ()

    @classmethod
    def forecast(cls, args: Any, now: float) -> Iterable[str]:  # noqa: ARG003
        """For ``check``: when it will ask next after a moment, as far as arguments tell."""
        return ()

    def watched(self) -> Collection[str]:
        """Objectives whose values it looks at."""
        return ()

    def look(self, sight: Sight) -> Occasion | None:
        """Whether a round is wanted now; asked whenever the cluster has changed, and at ``wake_at``."""

    def wake_at(self, now: float) -> float | None:
        """When it wants to be asked though nothing changes, seconds since the epoch; None: never."""

    def answered(self, report: RoundReport) -> None:
        """Hear what became of a round, whoever asked for it: for back-off."""


class Listener(Protocol):
    """Hears all that a daemon tells: a log, metrics, Events, an audit log."""

    def hear(self, notice: Notice) -> None:
        """Take a notice; never raises, and never waits for long."""


class Progress(Protocol):
    """Told of long work, for a terminal."""

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None:
        """``done`` of ``total`` (None: unknown) of ``step`` is finished."""


def no_progress(step: str, done: int = 0, total: int | None = None) -> None:
    """A Progress that shows nothing."""


class HearMoves(Protocol):
    """Told how far each move has come while a plan is carried out."""

    def __call__(self, change: MoveChange) -> None:
        """Take a change; never raises, and never waits for long."""


def nobody_hears(change: MoveChange) -> None:
    """For where nobody wants to know."""


class SchedulerPrediction(Protocol):
    """The predicted scheduler as the planner sees it: filters and scores over one cluster's columns."""

    columns: Columns

    def feasible(self, pod: int, placement: Placement) -> BoolArray:
        """Nodes that pass every filter, bool[N]."""

    def static_feasible(self, pod: int) -> BoolArray:
        """Nodes that pass every static filter, bool[N]; pods of one shape and label set share the array."""

    def reasons(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Every filter's rejections, in the order in which kube-scheduler runs the filters."""

    def refusals(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Rejections as kube-scheduler counts them: a node stays with the filter that refuses it first."""

    def best_nodes(self, pod: int, placement: Placement) -> IntArray:
        """Indices of all feasible nodes that tie for the highest total score; empty if none is feasible."""

    def totals(self, pod: int, placement: Placement) -> IntArray:
        """Total score of each node, int64[N], -1 where a filter refuses; on its own node as if the pod had left."""

    def is_entangled(self, pod: int) -> bool:
        """Whether other pods decide, beyond resources, where this pod fits (ports, affinity, spread, volumes)."""

    def affects_others(self, pod: int) -> bool:
        """Whether other pods look at this one, beyond resources (its ports, labels, hard terms or volumes)."""
