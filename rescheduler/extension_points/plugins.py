"""What other packages may bring besides objectives: filters, scores, triggers and metrics providers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from pydantic import BaseModel

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.samples import MetricsSample, NodeSamples


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

    def history(
        self,
        nodes: Sequence[Node],  # noqa: ARG002
        *,
        start: float,  # noqa: ARG002
        end: float,  # noqa: ARG002
        step_seconds: float,  # noqa: ARG002
    ) -> NodeSamples | None:
        """Earlier samples at regular times, oldest first; None where the source keeps none. Raises MetricsError."""
        return None
