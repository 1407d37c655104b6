"""What the predicted scheduler says of one pod: reasons, scores, totals, and the message of a failure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.scheduling.prediction.node_sample import possible_choices

NO_NODES = "no nodes available to schedule pods"


@dataclass(frozen=True, eq=False)
class Verdict:
    """One pod on all nodes.

    ``refusals`` hold each node under the filter that refused it first (several reasons of that filter may name it).
    ``scores`` by plugin, ``total`` and ``best`` (indices) speak of feasible nodes only. ``scored``: so many feasible
    nodes the scheduler scores; None: all. Where more are feasible, ``best`` is an estimate.
    """

    feasible: BoolArray
    refusals: tuple[Rejection, ...]
    scores: Mapping[str, IntArray]
    total: IntArray
    best: IntArray
    scored: int | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether the scheduler scores only some of the feasible nodes, and nobody can tell which."""
        return self.scored is not None and int(self.feasible.sum()) > self.scored

    @property
    def possible(self) -> IntArray:
        """Indices of all nodes that the scheduler may choose: the best ones, or more where it scores a sample."""
        if not self.is_sampled:
            return self.best
        return np.flatnonzero(possible_choices(self.total, self.feasible, self.scored or 0))

    def reasons(self, node: int) -> tuple[str, ...]:
        """Why one node was refused; empty for a feasible one."""
        return tuple(dict.fromkeys(refusal.reason for refusal in self.refusals if refusal.nodes[node]))

    @property
    def message(self) -> str:
        """The scheduler's message of a failure; empty if some node is feasible."""
        return "" if self.feasible.any() else failure_message(self.refusals, len(self.feasible))


def first_refusals(by_filter: Iterable[Sequence[Rejection]], node_count: int) -> tuple[Rejection, ...]:
    """Rejections as kube-scheduler counts them: a node stays with the filter that refuses it first.

    A fault of the pod itself stands alone; nodes that the pod rules out beforehand come before all filters.
    """
    groups = [tuple(rejections) for rejections in by_filter]
    for rejection in (rejection for group in groups for rejection in group):
        if rejection.scope == "pod":
            return (rejection,)
    beforehand = [tuple(r for r in group if r.scope == "selection") for group in groups]
    afterwards = [tuple(r for r in group if r.scope == "node") for group in groups]
    is_open = np.ones(node_count, dtype=np.bool_)
    found: list[Rejection] = []
    for group in (*beforehand, *afterwards):
        kept = [rejection._replace(nodes=rejection.nodes & is_open) for rejection in group]
        for rejection in kept:
            if rejection.nodes.any():
                found.append(rejection)
                is_open &= ~rejection.nodes
    return tuple(found)


def reason_counts(refusals: Sequence[Rejection]) -> dict[str, int]:
    """Number of nodes by reason, most frequent first."""
    counts: Counter[str] = Counter()
    for refusal in refusals:
        counts[refusal.reason] += int(refusal.nodes.sum())
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def failure_message(refusals: Sequence[Rejection], node_count: int) -> str:
    """Why a pod fits nowhere, as kube-scheduler words it (without its remark on preemption)."""
    if node_count == 0:
        return NO_NODES
    faults = [refusal.reason for refusal in refusals if refusal.scope == "pod"]
    told = faults or sorted(f"{count} {reason}" for reason, count in reason_counts(refusals).items())
    return f"0/{node_count} nodes are available: {', '.join(told)}."
