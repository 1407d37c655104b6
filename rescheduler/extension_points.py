"""Every place where a plugin or an adapter fits in, and the errors that cross it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from rescheduler.model.cluster import Cluster
from rescheduler.model.columns import BoolArray, Columns, IntArray
from rescheduler.model.placement import Placement
from rescheduler.model.plan import PodReference
from rescheduler.model.pod import Pod
from rescheduler.model.resources import Resources


class ReschedulerError(Exception):
    """An error that a user can act on: the text names what was found, what was wanted, where, and the choices."""


class SnapshotError(ReschedulerError):
    """A recording cannot be used: names file, object and field."""


class ClusterError(ReschedulerError):
    """The API server cannot be reached, refuses, or answers something unusable."""


class ExecutionError(ReschedulerError):
    """A plan had to stop."""


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


class Rejection(NamedTuple):
    """Nodes that a filter refuses for one reason, in the scheduler's own words.

    ``is_resolvable``: evicting other pods could help.
    """

    reason: str
    nodes: BoolArray
    is_resolvable: bool = True


class Filter(Protocol):
    """May this pod sit on this node? One kube-scheduler predicate."""

    name: str
    is_static: bool
    """True if the verdict depends on pod and node objects alone, not on where other pods sit."""

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Reasons against nodes for the pod of this index; a node that no reason names passes.

        The pod itself, where it sits or leaves, does not stand in its own way.
        """


class Score(Protocol):
    """Where would the scheduler put this pod? One kube-scheduler score, 0 to 100 after normalisation."""

    name: str

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Normalised scores int64[N]; values of infeasible nodes mean nothing."""


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

    def hold(self, request: HoldRequest) -> None:
        """Make a placeholder and nominate it; returns when it stands. Raises ClusterError."""

    def release(self, name: str) -> None:
        """Remove a placeholder, by the name it was requested with; returns when it is gone. Unknown names are fine."""

    def can_hold(self) -> str | None:
        """None if placeholders work here, else the reason why not."""

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Set nominatedNodeName of a pending pod; False if it is bound, gone or another by now."""

    def leftovers(self) -> Sequence[str]:
        """Names of placeholders of ours that still exist."""

    def record(self, pod: PodReference, reason: str, message: str) -> None:
        """Tell of an act by an Event on the pod; never raises."""


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

    def best_nodes(self, pod: int, placement: Placement) -> IntArray:
        """Indices of all feasible nodes that tie for the highest total score; empty if none is feasible."""
