"""Where a pod may not arrive while its own old copy still stands: its replacement comes before it goes.

The filters judge every arrival as if the pod had left already, which pods that are evicted have. What a pod that stays
until its replacement is Ready must pass besides is worked out here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from rescheduler.extension_points import Rejection, SchedulerPrediction
from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.planning.problem.pod_relations import PodRelations

REASON = "its own old pod, which stays until the new one is Ready, stands in the way"


class OldCopies:
    """The pods (indices) that stay until their replacements are Ready, at the nodes where they stand at the start."""

    def __init__(self, columns: Columns, relations: PodRelations, start: Placement, staying: Collection[int]) -> None:
        """Nothing is worked out before it is asked for."""
        self._columns = columns
        self._relations = relations
        self._start = start
        self._staying = frozenset(staying)

    def __contains__(self, pod: int) -> bool:
        """Whether the pod stays until its replacement is Ready."""
        return pod in self._staying

    def __bool__(self) -> bool:
        """Whether any pod does."""
        return bool(self._staying)

    def refuse(self, pod: int, placement: Placement) -> BoolArray | None:
        """Nodes on which the pod may not arrive beside its old copy, bool[N]; None: it refuses none.

        The node of the old copy is left out: there nothing arrives.
        """
        if pod not in self._staying or not self._relations.is_entangled(pod):
            return None
        old = int(self._start.node_of[pod])
        if old == NOWHERE:
            return None
        refused = self._apart(pod, old) | self._together(pod, old, placement) | self._uneven(pod, old, placement)
        refused[old] = False
        return refused if refused.any() else None

    def _apart(self, pod: int, old: int) -> BoolArray:
        """Domains of the old copy where the pod keeps away from its own kind."""
        refused = np.zeros(self._columns.node_count, dtype=np.bool_)
        for conflict in self._relations.conflicts(pod):
            if conflict.topology_key is not None and pod in conflict.pods:
                codes, _ = self._columns.domains.of(conflict.topology_key)
                if codes[old] != NOWHERE:
                    refused |= codes == codes[old]
        return refused

    def _together(self, pod: int, old: int, placement: Placement) -> BoolArray:
        """The first of its kind may go anywhere, but its old copy is another one: it must come near that."""
        refused = np.zeros(self._columns.node_count, dtype=np.bool_)
        keys, attractors, attracts_itself = self._relations.attractors(pod)
        if not keys or not attracts_itself:
            return refused
        codes_of = [self._columns.domains.of(key)[0] for key in keys]
        has_some_key = np.any([codes != NOWHERE for codes in codes_of], axis=0)
        if not has_some_key[old] or has_some_key[placement.sites(attractors, without=pod)].any():
            return refused
        for codes in codes_of:
            refused |= (codes != codes[old]) | (codes == NOWHERE)
        return refused

    def _uneven(self, pod: int, old: int, placement: Placement) -> BoolArray:
        """Domains that would hold too many once both copies count."""
        refused = np.zeros(self._columns.node_count, dtype=np.bool_)
        for domains in self._relations.spreads(pod):
            rule = domains.rule
            counts = domains.counts(placement, without=pod)
            if domains.counted[old] and pod in rule.pods:
                counts[domains.codes[old]] += 1
            too_many = counts + rule.own_weight - domains.least(counts) > rule.max_skew
            here = domains.codes != NOWHERE
            refused |= ~here
            refused[here] |= too_many[domains.codes[here]]
        return refused


class BesideOldCopies:
    """A prediction in which pods that stay until their replacements are Ready stand in their own way."""

    def __init__(self, prediction: SchedulerPrediction, old_copies: OldCopies) -> None:
        """Of all other pods it says what ``prediction`` says."""
        self._prediction = prediction
        self._old_copies = old_copies
        self.columns = prediction.columns

    def feasible(self, pod: int, placement: Placement) -> BoolArray:
        """Nodes that pass every filter, beside the old copy too, bool[N]."""
        found = self._prediction.feasible(pod, placement)
        refused = self._old_copies.refuse(pod, placement)
        return found if refused is None else found & ~refused

    def static_feasible(self, pod: int) -> BoolArray:
        """Nodes that pass every static filter, bool[N]; no old copy bears on them."""
        return self._prediction.static_feasible(pod)

    def reasons(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Every filter's rejections, and the old copy's."""
        return [*self._prediction.reasons(pod, placement), *self._rejections(pod, placement)]

    def refusals(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """As kube-scheduler counts them: a node stays with what refuses it first."""
        found = list(self._prediction.refusals(pod, placement))
        for rejection in self._rejections(pod, placement):
            left = rejection.nodes.copy()
            for earlier in found:
                left &= ~earlier.nodes
            found.append(rejection._replace(nodes=left))
        return found

    def best_nodes(self, pod: int, placement: Placement) -> IntArray:
        """Indices of all feasible nodes that tie for the highest total score."""
        refused = self._old_copies.refuse(pod, placement)
        if refused is None:
            return self._prediction.best_nodes(pod, placement)
        totals = self.totals(pod, placement)
        best = int(totals.max(initial=-1))
        return np.flatnonzero(totals == best) if best >= 0 else np.zeros(0, dtype=np.int64)

    def is_outdone(self, pod: int, node: int, others: Sequence[int], placement: Placement) -> bool:
        """See ``SchedulerPrediction``; False beside an old copy."""
        if self._old_copies.refuse(pod, placement) is not None:
            return False
        return self._prediction.is_outdone(pod, node, others, placement)

    def totals(self, pod: int, placement: Placement) -> IntArray:
        """Total score of each node, int64[N], -1 where something refuses."""
        refused = self._old_copies.refuse(pod, placement)
        totals = self._prediction.totals(pod, placement)
        return totals if refused is None else np.where(refused, -1, totals)

    def is_entangled(self, pod: int) -> bool:
        """Whether other pods decide, beyond resources, where this pod fits."""
        return self._prediction.is_entangled(pod)

    def _rejections(self, pod: int, placement: Placement) -> list[Rejection]:
        refused = self._old_copies.refuse(pod, placement)
        return [] if refused is None else [Rejection(REASON, refused)]
