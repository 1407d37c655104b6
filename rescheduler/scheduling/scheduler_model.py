"""The predicted scheduler: filters, scores and choice over one cluster, as kube-scheduler would decide."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

import numpy as np

from rescheduler.extension_points import Filter, Rejection, SchedulerPrediction
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.volumes import topology_signature
from rescheduler.scheduling.foreign import ForeignFilter
from rescheduler.scheduling.kernels.arithmetic import Arithmetic, ArrayArithmetic
from rescheduler.scheduling.kernels.fast_path import FastPath
from rescheduler.scheduling.kernels.kinds import Kinds
from rescheduler.scheduling.prediction.entanglement import Entanglement
from rescheduler.scheduling.prediction.node_sample import nodes_scored
from rescheduler.scheduling.prediction.nominations import Nominations, heeding, seated
from rescheduler.scheduling.prediction.verdict import Verdict, failure_message, first_refusals
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER, Profile, default_profile


class SchedulerModel(SchedulerPrediction):
    """Filters and scores of each configured scheduler, over one cluster's columns.

    ``profiles`` by scheduler name; by default kube-scheduler as it comes, for the snapshot's server version.
    ``counts_nominated``: whether pending pods count on the nodes they are nominated to (the two-pass rule), and a
    nominated pod goes to its node if it can. ``arithmetic``: what computes pods that no other pod's place matters to;
    None: filters and scores one by one, for all pods, with equal answers. Arrays that methods return must not be
    written to.
    """

    def __init__(
        self,
        columns: Columns,
        profiles: Mapping[str, Profile] | None = None,
        *,
        counts_nominated: bool = False,
        arithmetic: Arithmetic | None = ArrayArithmetic(),  # noqa: B008 - it has no state
    ) -> None:
        """Nothing is computed before it is asked for."""
        self.columns = columns
        default = default_profile(columns.cluster.server_version)
        self.profiles = profiles if profiles is not None else {DEFAULT_SCHEDULER: default}
        self._nominations = Nominations(columns) if counts_nominated else None
        self._static: dict[Hashable, BoolArray] = {}
        self._nowhere = np.zeros(columns.node_count, dtype=np.bool_)
        self._static_shapes: dict[int, int] = {}
        self._static_specs: dict[Hashable, int] = {}
        self._is_told_apart = {
            name: any(isinstance(plugin, ForeignFilter) for plugin in profile.filters)
            for name, profile in self.profiles.items()
        }
        kinds = Kinds(columns, self.profiles, self.static_feasible, self._static_key)
        self.fast_path = FastPath(kinds, arithmetic) if arithmetic else None

    def feasible(self, pod: int, placement: Placement) -> BoolArray:
        """Nodes that pass every filter, bool[N]."""
        mask = self._passing(pod, placement)
        guests_by_node = self._guests(pod, placement)
        heeders = heeding(self._filters(pod, is_static=False), pod, placement) if guests_by_node else ()
        for node, guests in guests_by_node.items():
            if mask[node]:
                with seated(placement, guests, node):
                    found = (rejection for plugin in heeders for rejection in plugin.reject(pod, placement))
                    mask[node] = not any(rejection.nodes[node] for rejection in found)
        return mask

    def static_feasible(self, pod: int) -> BoolArray:
        """Nodes that pass every static filter, bool[N]; pods alike in what these look at share the array."""
        key = self._static_key(pod)
        found = self._static.get(key)
        if found is None:
            found = self._static[key] = self._find_static(pod)
        return found

    def reasons(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Every filter's rejections, in kube-scheduler's order; a node may be in several."""
        found = [rejection for group in self._reasons_by_filter(pod, placement) for rejection in group]
        return [rejection for rejection in found if rejection.nodes.any()]

    def best_nodes(self, pod: int, placement: Placement) -> IntArray:
        """Indices of all feasible nodes that tie for the highest total score; empty if none is feasible."""
        nominated = self._nominations.node_of.get(pod) if self._nominations else None
        if self.fast_path and nominated is None and not self._guests(pod, placement):
            best = self.fast_path.best_nodes(pod, placement)
            if best is not None:
                return best
        feasible = self.feasible(pod, placement)
        if nominated is not None and feasible[nominated]:
            return np.array([nominated], dtype=np.int64)
        candidates = np.flatnonzero(feasible)
        if len(candidates) <= 1:
            return candidates
        return _highest(self.total(pod, placement, feasible), candidates)

    def is_outdone(self, pod: int, node: int, others: Sequence[int], placement: Placement) -> bool:
        """See ``SchedulerPrediction``; False for pods that are nominated or that the fast path does not serve."""
        if self.fast_path is None or (self._nominations and pod in self._nominations.node_of):
            return False
        return not self._guests(pod, placement) and self.fast_path.is_outdone(pod, [node, *others], placement)

    def scores(self, pod: int, placement: Placement, feasible: BoolArray) -> dict[str, IntArray]:
        """Normalised scores int64[N] by plugin; they mean something on feasible nodes only."""
        return {score.plugin.name: score.plugin.score(pod, placement, feasible) for score in self._profile(pod).scores}

    def total(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Weighted sum of the scores, int64[N]; it means something on feasible nodes only."""
        total = np.zeros(self.columns.node_count, dtype=np.int64)
        for score in self._profile(pod).scores:
            total += score.weight * score.plugin.score(pod, placement, feasible)
        return total

    def totals(self, pod: int, placement: Placement) -> IntArray:
        """Total score of each node, int64[N], -1 where a filter refuses; on its own node as if the pod had left."""
        if self.fast_path and not self._guests(pod, placement):
            found = self.fast_path.totals(pod, placement)
            if found is not None:
                return found
        feasible = self.feasible(pod, placement)
        return (
            np.where(feasible, self.total(pod, placement, feasible), -1)
            if feasible.any()
            else np.full(len(feasible), -1)
        )

    def verdict(self, pod: int, placement: Placement) -> Verdict:
        """Everything about one pod on all nodes: reasons, scores, totals, best nodes."""
        feasible = self.feasible(pod, placement)
        refusals = self.refusals(pod, placement)
        scores: dict[str, IntArray] = {}
        total = np.zeros(self.columns.node_count, dtype=np.int64)
        best = np.zeros(0, dtype=np.int64)
        if feasible.any():
            best = self.best_nodes(pod, placement)
            scores = self.scores(pod, placement, feasible)
            for weighted in self._profile(pod).scores:
                total += weighted.weight * scores[weighted.plugin.name]
        return Verdict(feasible, refusals, scores, total, best, self.scored_count(pod))

    def scored_count(self, pod: int) -> int | None:
        """After so many feasible nodes the pod's scheduler looks no further; None for a scheduler that is unknown."""
        profile = self.profiles.get(self.columns.shapes[self.columns.shape_of[pod]].scheduler_name)
        return nodes_scored(self.columns.node_count, profile.percentage_of_nodes_to_score) if profile else None

    def explain_failure(self, pod: int, placement: Placement) -> str:
        """Why the pod fits nowhere, in kube-scheduler's words; empty if it fits somewhere."""
        if self.feasible(pod, placement).any():
            return ""
        return failure_message(self.refusals(pod, placement), self.columns.node_count)

    def refusals(self, pod: int, placement: Placement) -> tuple[Rejection, ...]:
        """Rejections as kube-scheduler counts them: a node stays with the filter that refuses it first."""
        return first_refusals(self._reasons_by_filter(pod, placement), self.columns.node_count)

    def not_modelled(self, pod: int) -> tuple[str, ...]:
        """Why there is no prediction about a pod: its scheduler is not configured, or it uses what is not modelled."""
        spec = self.columns.shapes[self.columns.shape_of[pod]]
        if spec.scheduler_name not in self.profiles:
            return (f'scheduler "{spec.scheduler_name}" is not configured',)
        return tuple(f"{predicate}: not modelled" for predicate in spec.unmodelled)

    def is_entangled(self, pod: int) -> bool:
        """Whether other pods decide, beyond resources, where this pod fits (ports, affinity, spread, volumes)."""
        return self.columns.facts(Entanglement).depends(pod)

    @property
    def heeds_nominations(self) -> bool:
        """Whether any pending pod counts on a node that it is nominated to."""
        return bool(self._nominations and self._nominations.node_of)

    @cached_property
    def _as_read(self) -> Placement:
        return Placement(self.columns)

    def _profile(self, pod: int) -> Profile:
        return self.profiles[self.columns.shapes[self.columns.shape_of[pod]].scheduler_name]

    def _filters(self, pod: int, *, is_static: bool) -> tuple[Filter, ...]:
        return tuple(plugin for plugin in self._profile(pod).filters if plugin.is_static == is_static)

    def _guests(self, pod: int, placement: Placement) -> dict[int, list[int]]:
        return self._nominations.guests(pod, placement) if self._nominations else {}

    def _passing(self, pod: int, placement: Placement) -> BoolArray:
        """Nodes that pass every filter with the pods as they are placed; a fresh array."""
        found = self.fast_path.feasible(pod, placement) if self.fast_path else None
        if found is not None:
            return found
        mask = self.static_feasible(pod).copy()
        if mask.any():
            for plugin in self._filters(pod, is_static=False):
                for rejection in plugin.reject(pod, placement):
                    mask &= ~rejection.nodes
        return mask

    def _find_static(self, pod: int) -> BoolArray:
        if self.not_modelled(pod):
            return self._nowhere
        mask = ~self._nowhere
        for plugin in self._filters(pod, is_static=True):
            for rejection in plugin.reject(pod, self._as_read):
                mask &= ~rejection.nodes
        return mask

    def _static_key(self, pod: int) -> Hashable:
        """What static filters look at, as a value."""
        shape = int(self.columns.shape_of[pod])
        number = self._static_shapes.get(shape)
        if number is None:
            spec = self.columns.shapes[shape]
            required = spec.node_affinity.required if spec.node_affinity else None
            looked_at = (spec.scheduler_name, spec.node_selector, required, spec.tolerations, spec.unmodelled)
            number = self._static_specs.setdefault(looked_at, len(self._static_specs))
            self._static_shapes[shape] = number
        subject = self.columns.cluster.pods[pod]
        # What a filter of another package looks at is not known: pods of its profile share nothing.
        alone = pod if self._is_told_apart.get(subject.spec.scheduler_name) else None
        return number, bool(subject.scheduling_gates), topology_signature(self.columns, subject), alone

    def _reasons_by_filter(self, pod: int, placement: Placement) -> list[Sequence[Rejection]]:
        """Rejections of each filter; a node with nominated pods has those found with them, if there are any."""
        unknown = self.not_modelled(pod)
        if unknown:
            return [[Rejection(text, ~self._nowhere, is_resolvable=False, scope="pod") for text in unknown]]
        filters = self._profile(pod).filters
        found: list[Sequence[Rejection]] = [plugin.reject(pod, placement) for plugin in filters]
        guests_by_node = self._guests(pod, placement)
        heeders = heeding(filters, pod, placement) if guests_by_node else ()
        for node, guests in guests_by_node.items():
            with seated(placement, guests, node):
                crowded = [plugin.reject(pod, placement) if plugin in heeders else () for plugin in filters]
            if any(rejection.nodes[node] for group in crowded for rejection in group):
                found = [_replaced(a, b, node) for a, b in zip(found, crowded, strict=True)]
        return found


def _replaced(rejections: Sequence[Rejection], others: Sequence[Rejection], node: int) -> list[Rejection]:
    """Rejections with the verdict on one node taken from others."""
    found = []
    for group, is_kept_there in ((rejections, False), (others, True)):
        for rejection in group:
            is_wanted = np.full(len(rejection.nodes), not is_kept_there)
            is_wanted[node] = is_kept_there
            found.append(rejection._replace(nodes=rejection.nodes & is_wanted))
    return found


def _highest(total: IntArray, candidates: IntArray) -> IntArray:
    among = total[candidates]
    best: IntArray = candidates[among == among.max()]
    return best
