"""Which pods the loops of draining may seat: those whose relations to others stay right wherever the loops put them.

Pods that keep apart from their like by node get a number; pods that spread over domains stay in their own. All others
that look at pods (affinity, volumes, relations between different workloads) are left to the real filters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.spread import HOSTNAME, SpreadRule
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation

_MOST_MASKS = 4_000
_MANY = 2**40


class Seatable(NamedTuple):
    """``rows``: movable pods (rows of the problem) that the loops may seat, int64[P].

    ``class_of`` int64[P] and ``open_to`` bool[C, N]: the nodes that each may use at all; ``apart`` int64[P]: pods of
    one number never share a node, -1 for none.
    """

    rows: IntArray
    class_of: IntArray
    open_to: BoolArray
    apart: IntArray


def seatable_pods(situation: EmptyingSituation) -> Seatable:
    """Sort the movable pods; O(pods + kinds of related pods x nodes)."""
    return _Sorting(situation).sort()


class _Sorting:
    """Masks handed out so far, and the number of each pod's."""

    def __init__(self, situation: EmptyingSituation) -> None:
        self.problem = problem = situation.problem
        self.columns = problem.columns
        self.start = situation.start
        self.node_of = situation.start.node_of
        self.class_of: IntArray = problem.mask_numbers.copy()
        self.masks: list[BoolArray] = [np.asarray(mask) for mask in problem.masks]
        self.apart: IntArray = np.full(len(problem.movable), -1, dtype=np.int64)
        self.is_seatable: BoolArray = ~situation.is_entangled_row & (problem.held == problem.requests).all(axis=0)
        self.entangled = np.flatnonzero(situation.is_entangled_row)
        self.row_of = np.full(self.columns.pod_count, -1, dtype=np.int64)
        self.row_of[problem.movable] = np.arange(len(problem.movable))
        self._numbers = {mask.tobytes(): number for number, mask in enumerate(self.masks)}
        self._domains: dict[tuple[int, int], BoolArray | None] = {}

    def sort(self) -> Seatable:
        """All workloads of related pods, those together whose pods are alike."""
        kinds: dict[tuple[int, int], list[int]] = {}
        for row in self.entangled.tolist():
            pod = int(self.problem.movable[row])
            key = int(self.columns.shape_of[pod]), int(self.columns.label_set_of[pod])
            kinds.setdefault(key, []).append(row)
        for number, rows in enumerate(kinds.values()):
            self._try_kind(number, np.array(rows, dtype=np.int64))
        chosen = np.flatnonzero(self.is_seatable)
        nodes = self.problem.node_count
        open_to = np.array(self.masks, dtype=np.bool_).reshape(-1, nodes)
        return Seatable(chosen, self.class_of[chosen], open_to, self.apart[chosen])

    def _try_kind(self, number: int, rows: IntArray) -> None:
        """Let the loops seat pods of one kind if all pods that bear on them are of that kind or do not move."""
        problem, tangle = self.problem, self.problem.entanglement
        pod = int(problem.movable[rows[0]])
        movable_watched = self.row_of[tangle.watched(pod)]
        is_own = np.isin(movable_watched[movable_watched >= 0], rows).all()
        is_simple = not self.columns.cluster.pods[pod].volumes and not tangle.attractors(pod)[0]
        by_node = all(conflict.topology_key in (None, HOSTNAME) for conflict in tangle.conflicts(pod))
        if not (is_own and is_simple and by_node) or len(self.masks) > _MOST_MASKS:
            return
        if (problem.held[:, rows] != problem.requests[:, rows]).any():
            return
        shut = self._shut_by_those_who_stay(pod)
        classes = {row: self._class_at(row, shut) for row in rows.tolist()}
        if None not in classes.values():
            self.is_seatable[rows] = True
            self.class_of[list(classes)] = [found for found in classes.values() if found is not None]
            if tangle.conflicts(pod):
                self.apart[rows] = number

    def _shut_by_those_who_stay(self, pod: int) -> BoolArray:
        shut = np.zeros(self.problem.node_count, dtype=np.bool_)
        for conflict in self.problem.entanglement.conflicts(pod):
            staying = conflict.pods[self.row_of[conflict.pods] < 0]
            at = self.node_of[staying]
            shut[at[at != NOWHERE]] = True
        return shut

    def _class_at(self, row: int, shut: BoolArray) -> int | None:
        """Number of the mask of a pod at its present node; None if its spread is wrong as it is."""
        pod = int(self.problem.movable[row])
        mask = self.problem.static_mask(pod)[1] & ~shut
        for rule in self.problem.entanglement.spread_rules(pod):
            domain = self._own_domain(rule, pod)
            if domain is None:
                return None
            mask = mask & domain
        key = mask.tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self.masks)
            self.masks.append(mask)
        return self._numbers[key]

    def _own_domain(self, rule: SpreadRule, pod: int) -> BoolArray | None:
        """Nodes of the pod's own domain, bool[N]; None if it may not arrive there again as pods stand.

        While every pod that is counted stays in its domain, the counts stay as they are.
        """
        codes, values = self.columns.domains.of(rule.topology_key)
        mine = int(codes[self.node_of[pod]])
        if mine == NOWHERE or rule.topology_key == HOSTNAME:
            return None
        if (id(rule), mine) not in self._domains:
            sites = self.start.sites(rule.pods, without=pod)
            counts = np.bincount(codes[sites[rule.counted_nodes[sites]]] + 1, minlength=len(values) + 1)[1:]
            domains = np.unique(codes[rule.counted_nodes & (codes != NOWHERE)])
            least = counts[domains].min(initial=_MANY) if len(domains) >= max(1, rule.min_domains) else 0
            is_even = counts[mine] + rule.own_weight - least <= rule.max_skew
            self._domains[id(rule), mine] = (codes == mine) if is_even else None
        return self._domains[id(rule), mine]
