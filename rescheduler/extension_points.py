"""Every place where a plugin or an adapter fits in, and the errors that cross it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rescheduler.model.cluster import Cluster
from rescheduler.model.columns import BoolArray, Columns, IntArray
from rescheduler.model.constraints import HostPort, LabelSelector
from rescheduler.model.node import Node
from rescheduler.model.permit import Permit
from rescheduler.model.placement import Placement
from rescheduler.model.plan import Move, PlanResult, PodReference, Refusal
from rescheduler.model.pod import Pod
from rescheduler.model.resources import Resources
from rescheduler.model.samples import MetricsSample, NodeSamples


class ReschedulerError(Exception):
    """An error that a user can act on: the text names what was found, what was wanted, where, and the choices."""


class SnapshotError(ReschedulerError):
    """A recording cannot be used: names file, object and field."""


class ClusterError(ReschedulerError):
    """The API server cannot be reached, refuses, or answers something unusable."""


class MetricsError(ReschedulerError):
    """A metrics provider cannot be asked, refuses, or answers something unusable: names provider and address."""


class StoreError(ReschedulerError):
    """The usage store cannot be written (a full disk, say) or opened."""


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
    """Where measured use comes from; one file each in ``adapters/metrics_providers``."""

    name: str
    """As the policy names it."""

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
    host_ports: tuple[HostPort, ...] = ()


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

    def leftovers(self) -> Sequence[str]:
        """Names of placeholders of ours that still exist."""

    def record(self, pod: PodReference, reason: str, message: str) -> None:
        """Tell of an act by an Event on the pod; never raises."""


class Gate(Protocol):
    """May these moves start now? Asked on a fresh snapshot right before the evictions of a wave."""

    def permit(
        self, moves: Sequence[Move], cluster: Cluster, sent: Sequence[PodReference]
    ) -> Sequence[Permit | Refusal]:
        """One answer for each move, in order.

        ``cluster``: read just now. ``sent``: pods of this plan whose eviction was sent already, in whatever wave,
        the outcome unknown included; each counts as missing until its workload is complete again.
        """


class Progress(Protocol):
    """Told of long work, for a terminal."""

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None:
        """``done`` of ``total`` (None: unknown) of ``step`` is finished."""


def no_progress(step: str, done: int = 0, total: int | None = None) -> None:
    """A Progress that shows nothing."""


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
