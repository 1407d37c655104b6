"""Pods of one kind that stand without the company that their required affinity asks for."""

from __future__ import annotations

from copy import copy

import numpy as np

from rescheduler.model.columns.affinity_terms import AffinityTerms, OwnTerms
from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.fault_domains.part import Blame, ViolationCounter


class AffinityViolations(ViolationCounter):
    """Holders of the same affinity terms whose node lacks a topology key, or a partner in some key's domain.

    As in kube-scheduler: partners match all terms together, and the first of a kind that attracts itself may be alone.
    """

    def __init__(
        self, columns: Columns, own: OwnTerms, holders: IntArray, node_of: IndexArray, partners: IntArray
    ) -> None:
        """``holders`` and ``partners``: placed pods that count, ascending; ``node_of``: int32[P], not kept."""
        self.own = own
        self.holders = holders
        self.partners = partners
        self._all = np.union1d(holders, partners)
        self._node_of = node_of[self._all].astype(np.int64)
        self._is_partner = np.isin(self._all, partners)
        self._is_holder = np.isin(self._all, holders)
        self.codes = [columns.domains.of(key)[0] for key in own.affinity_keys]
        self._has_all = np.all([codes != NOWHERE for codes in self.codes], axis=0)
        self.has_some_key = np.any([codes != NOWHERE for codes in self.codes], axis=0)
        self.cost = int(self._lacking().sum())

    def change(self, pod: int) -> FloatArray:
        """See ViolationCounter."""
        position = self._position(pod)
        if position == NOWHERE:
            return np.zeros(len(self._has_all))
        without = np.ones(len(self._all), dtype=np.bool_)
        without[position] = False
        after = self._others_lacking(position, without)
        if self._is_holder[position]:
            after = after + self._lacks_at_each(without)
        change: FloatArray = (after - self.cost).astype(np.float64)
        return change

    def move(self, pod: int, node: int) -> None:
        """See ViolationCounter."""
        position = self._position(pod)
        if position != NOWHERE:
            self._node_of[position] = node
            self.cost = int(self._lacking().sum())

    def blame(self) -> Blame:
        """See ViolationCounter: those that lack company, and the partners that could come to them."""
        lacking = self._all[self._lacking()]
        if not len(lacking):
            return Blame(lacking, lacking)
        partners = np.setdiff1d(self.partners, lacking)
        amounts = np.concatenate([np.ones(len(lacking)), np.zeros(len(partners))]).astype(np.int64)
        return Blame(np.concatenate([lacking, partners]), amounts)

    def hopes(self) -> Blame:
        """See ViolationCounter: a partner may be company for all that lack it."""
        pods = self._all if self.cost else self._all[:0]
        return Blame(pods, np.full(len(pods), self.cost, dtype=np.int64))

    def concerns(self) -> IntArray | None:
        """See ViolationCounter."""
        return self._all

    def copy(self) -> AffinityViolations:
        """See ViolationCounter."""
        other = copy(self)
        other._node_of = self._node_of.copy()
        return other

    def describe(self) -> str:
        """See ViolationCounter."""
        return f"affinity within {' and '.join(sorted(set(self.own.affinity_keys)))}"

    def _position(self, pod: int) -> int:
        position = int(np.searchsorted(self._all, pod))
        return position if position < len(self._all) and self._all[position] == pod else NOWHERE

    def _partners_near(self, present: BoolArray) -> list[IntArray]:
        """For each key the partners in the domain of each node, int64[N]; only those ``present`` count."""
        sites = self._node_of[self._is_partner & present]
        found = []
        for codes in self.codes:
            sums = np.bincount(codes[sites] + 1, minlength=int(codes.max(initial=0)) + 2)
            sums[0] = 0
            found.append(sums[codes + 1])
        return found

    def _lacking(self) -> BoolArray:
        """Holders without company, bool over holders and partners."""
        everybody = np.ones(len(self._all), dtype=np.bool_)
        near = self._partners_near(everybody)
        own = self._is_partner.astype(np.int64)  # nobody is company for itself
        sites = self._node_of
        has_all_near = np.all(
            [
                counts[sites] - own * (codes[sites] != NOWHERE) > 0
                for counts, codes in zip(near, self.codes, strict=True)
            ],
            axis=0,
        )
        reached = int((self._is_partner & self.has_some_key[sites]).sum())
        is_first = (reached - own * self.has_some_key[sites] == 0) & self.own.is_its_own_attractor
        lacking: BoolArray = self._is_holder & ~(self._has_all[sites] & (has_all_near | is_first))
        return lacking

    def _others_lacking(self, position: int, without: BoolArray) -> IntArray:
        """Holders but the one at ``position`` that lack company once it is on each node, int64[N]."""
        near = self._partners_near(without)
        own = self._is_partner.astype(np.int64)
        sites = self._node_of
        missing = [
            counts[sites] - own * (codes[sites] != NOWHERE) <= 0 for counts, codes in zip(near, self.codes, strict=True)
        ]
        some_missing = np.any(missing, axis=0)
        reached = int((self._is_partner & without & self.has_some_key[sites]).sum())
        is_first = (reached - own * self.has_some_key[sites] == 0) & self.own.is_its_own_attractor
        rest = self._is_holder & without
        hopeless = rest & ~self._has_all[sites]
        open_cases = np.flatnonzero(rest & self._has_all[sites] & some_missing)
        lacking = np.full(len(self._has_all), int(hopeless.sum()), dtype=np.int64)
        is_partner = bool(self._is_partner[position])
        for assignment in open_cases.tolist():
            still = np.zeros(len(self._has_all), dtype=np.bool_)
            for codes, lacks in zip(self.codes, missing, strict=True):
                if lacks[assignment]:
                    still |= (codes != codes[sites[assignment]]) | (not is_partner)
            excused = bool(is_first[assignment]) & ~(self.has_some_key & is_partner)
            lacking += still & ~excused
        return lacking

    def _lacks_at_each(self, without: BoolArray) -> BoolArray:
        """Whether a holder would lack company on each node among those that are left, bool[N]."""
        near = self._partners_near(without)
        has_all_near = np.all([counts > 0 for counts in near], axis=0)
        reached = int((self._is_partner & without & self.has_some_key[self._node_of]).sum())
        is_first = reached == 0 and self.own.is_its_own_attractor
        lacks: BoolArray = ~(self._has_all & (has_all_near | is_first))
        return lacks


def companies_of(columns: Columns, node_of: IndexArray, is_standing: BoolArray) -> list[AffinityViolations]:
    """One part for each kind of placed pods with required affinity."""
    terms = columns.facts(AffinityTerms)
    found = []
    for shape, spec in enumerate(columns.shapes):
        if not spec.affinity:
            continue
        pods = columns.pods_of_shape.members(shape)
        pods = pods[is_standing[pods]]
        for label_set in np.unique(columns.label_set_of[pods]).tolist():
            holders = pods[columns.label_set_of[pods] == label_set]
            own = terms.own(int(holders[0]))
            partners = own.attractors[is_standing[own.attractors]]
            found.append(AffinityViolations(columns, own, holders, node_of, partners))
    return found
