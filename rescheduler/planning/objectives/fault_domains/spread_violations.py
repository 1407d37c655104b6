"""Pods above what one spread constraint allows in their domain."""

from __future__ import annotations

from copy import copy

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IndexArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.spread import SpreadDomains, SpreadRules, spread_domains
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.fault_domains.part import Blame, ViolationCounter

DO_NOT_SCHEDULE = "DoNotSchedule"


class SpreadViolations(ViolationCounter):
    """Sum over the domains of one constraint of the pods above the least domain and the allowed skew.

    The least domain counts as empty where there are fewer domains than ``minDomains``, as in kube-scheduler.
    """

    def __init__(self, domains: SpreadDomains, node_of: IndexArray) -> None:
        """``node_of``: int32[P], where pods are."""
        rule = self._rule = domains.rule
        self.codes: IndexArray = np.where(domains.counted, domains.codes, NOWHERE).astype(np.int32)
        self._codes_or_nowhere = np.append(self.codes, NOWHERE)
        self.is_domain, self.is_from_zero = domains.is_domain, domains.is_from_zero
        self._domains: IndexArray = self._codes_or_nowhere[node_of[rule.pods]]  # of each pod that is counted
        found = self._domains[self._domains != NOWHERE]
        self.counts: IntArray = np.bincount(found, minlength=len(self.is_domain)).astype(np.int64)
        self.cost = self._excess(self.counts)

    @property
    def pods(self) -> IntArray:
        """Pods that the constraint counts, wherever they are."""
        return self._rule.pods

    @property
    def max_skew(self) -> int:
        """Pods that a domain may have more than the least."""
        return self._rule.max_skew

    def change(self, pod: int) -> FloatArray:
        """See ViolationCounter."""
        position = self._position(pod)
        if position == NOWHERE:
            return np.zeros(len(self.codes))
        counts = self.counts.copy()
        own = int(self._domains[position])
        if own != NOWHERE:
            counts[own] -= 1
        elsewhere = self._excess(counts)
        after = np.append(self._with_one_more(counts), elsewhere)
        change: FloatArray = (after[self.codes] - self.cost).astype(np.float64)
        return change

    def move(self, pod: int, node: int) -> None:
        """See ViolationCounter."""
        position = self._position(pod)
        if position == NOWHERE:
            return
        before = int(self._domains[position])
        after = int(self._codes_or_nowhere[node])
        for domain, sign in ((before, -1), (after, 1)):
            if domain != NOWHERE:
                self.counts[domain] += sign
        self._domains[position] = after
        self.cost = self._excess(self.counts)

    def blame(self) -> Blame:
        """See ViolationCounter: all pods of a domain that has too many."""
        over = self._over_here()
        blamed = np.flatnonzero(over)
        return Blame(self.pods[blamed], over[blamed])

    def hopes(self) -> Blame:
        """A pod that leaves a full domain is one less, and in the least one it may raise the least by one."""
        if not self.cost:
            return Blame(self.pods[:0], self.pods[:0])
        full = int(np.count_nonzero(self._over(self.counts, self._least(self.counts))))
        return Blame(self.pods, full + (self._over_here() > 0))

    def concerns(self) -> IntArray | None:
        """See ViolationCounter."""
        return self.pods

    def copy(self) -> SpreadViolations:
        """See ViolationCounter."""
        other = copy(self)
        other.counts = self.counts.copy()
        other._domains = self._domains.copy()
        return other

    def describe(self) -> str:
        """See ViolationCounter."""
        return f"spread over {self._rule.topology_key} (maxSkew {self._rule.max_skew})"

    def _position(self, pod: int) -> int:
        position = int(np.searchsorted(self.pods, pod))
        return position if position < len(self.pods) and self.pods[position] == pod else NOWHERE

    def _over_here(self) -> IntArray:
        """For each pod that is counted, by how many its domain has too many."""
        over = np.append(self._over(self.counts, self._least(self.counts)), 0)
        return over[self._domains]

    def _least(self, counts: IntArray) -> int:
        return 0 if self.is_from_zero else int(counts[self.is_domain].min(initial=2**40))

    def _over(self, counts: IntArray, least: int) -> IntArray:
        over: IntArray = np.where(self.is_domain, np.maximum(0, counts - least - self._rule.max_skew), 0)
        return over

    def _excess(self, counts: IntArray) -> int:
        return int(self._over(counts, self._least(counts)).sum())

    def _with_one_more(self, counts: IntArray) -> IntArray:
        """Excess with one more pod in each domain, int64[D]."""
        least = self._least(counts)
        over = self._over(counts, least)
        one_more = np.maximum(0, counts + 1 - least - self._rule.max_skew)
        after: IntArray = over.sum() - over + one_more
        lowest = np.flatnonzero(self.is_domain & (counts == least))
        if not self.is_from_zero and len(lowest) == 1:  # the least rises if the pod goes there
            raised = counts.copy()
            raised[lowest[0]] += 1
            after[lowest[0]] = self._excess(raised)
        return after


def skews_of(
    columns: Columns, node_of: IndexArray, holders: IntArray, when: str = DO_NOT_SCHEDULE
) -> list[SpreadViolations]:
    """The constraints of one kind that these pods hold; those that count the same pods on the same nodes are one."""
    found: dict[object, SpreadViolations] = {}
    kinds = columns.shape_of[holders].astype(np.int64) * len(columns.label_sets) + columns.label_set_of[holders]
    _, first = np.unique(kinds, return_index=True)
    for pod in holders[np.sort(first)].tolist():
        if not columns.shapes[columns.shape_of[pod]].topology_spread:
            continue
        for domains in spread_domains(columns, columns.facts(SpreadRules).own(pod, when)):
            rule = domains.rule
            limits = (rule.topology_key, rule.max_skew, rule.min_domains)
            identity = (limits, rule.pods.tobytes(), domains.counted.tobytes())
            if identity not in found:
                found[identity] = SpreadViolations(domains, node_of)
    return list(found.values())
