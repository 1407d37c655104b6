"""Topology spread constraints, resolved to the pods that they count and the nodes on which they count them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IndexArray, IntArray
from rescheduler.model.objects.constraints import LabelSelector, Requirement, TopologySpreadConstraint
from rescheduler.model.objects.pod import Pod, PodSpec

if TYPE_CHECKING:
    from rescheduler.model.columns.columns import Columns
    from rescheduler.model.columns.placement import Placement


HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(HOSTNAME, 3, "ScheduleAnyway"),
    TopologySpreadConstraint(ZONE, 5, "ScheduleAnyway"),
)
"""What kube-scheduler spreads by where a pod has no constraints of its own; the selector is the pod's owners'."""


class SpreadRule(NamedTuple):
    """One constraint of one pod.

    ``pods`` are the pods counted (indices, wherever they are; terminating ones left out), ``own_weight`` is 1 if the
    pod counts itself, ``counted_nodes`` bool[N] pass the constraint's node policies.
    """

    topology_key: str
    max_skew: int
    min_domains: int
    pods: IntArray
    own_weight: int
    counted_nodes: BoolArray


Rules: TypeAlias = tuple[SpreadRule, ...]


class SpreadDomains(NamedTuple):
    """The topology domains (D) of a constraint, as kube-scheduler counts pods in them.

    ``codes``: int32[N], the domain of each node, NOWHERE where it has none. ``counted``: bool[N], nodes on which pods
    count: they carry the keys of all constraints of the pod, and pass the policies of this one. ``is_domain``: bool[D],
    those with such a node. ``is_from_zero``: they are fewer than ``minDomains``, so that the least counts as empty.
    """

    rule: SpreadRule
    codes: IndexArray
    counted: BoolArray
    is_domain: BoolArray
    is_from_zero: bool

    def counts(self, placement: Placement, without: int = NOWHERE) -> IntArray:
        """Pods that count in each domain, int64[D], one of them left out."""
        sites = placement.sites(self.rule.pods, without=without)
        return np.bincount(self.codes[sites[self.counted[sites]]], minlength=len(self.is_domain))

    def least(self, counts: IntArray) -> int:
        """Of such counts the one that others are measured against."""
        return 0 if self.is_from_zero else int(counts[self.is_domain].min())


def spread_domains(columns: Columns, rules: Rules) -> tuple[SpreadDomains, ...]:
    """The domains of all constraints of one pod."""
    has_all_keys = np.ones(columns.node_count, dtype=np.bool_)
    for rule in rules:
        has_all_keys &= columns.domains.of(rule.topology_key)[0] != NOWHERE
    return tuple(_domains_of(columns, rule, has_all_keys & rule.counted_nodes) for rule in rules)


def _domains_of(columns: Columns, rule: SpreadRule, counted: BoolArray) -> SpreadDomains:
    codes, values = columns.domains.of(rule.topology_key)
    is_domain = np.zeros(len(values), dtype=np.bool_)
    is_domain[codes[counted]] = True
    return SpreadDomains(rule, codes, counted, is_domain, int(is_domain.sum()) < max(1, rule.min_domains))


class SpreadRules:
    """Spread constraints resolved once for each shape and label set of one cluster."""

    def __init__(self, columns: Columns) -> None:
        """Nothing is resolved before it is asked for."""
        self._columns = columns
        self._own: dict[tuple[int, int, str], tuple[SpreadRule, ...]] = {}
        self._defaults: dict[tuple[int, int, LabelSelector, tuple[TopologySpreadConstraint, ...]], Rules] = {}
        self._selectors: dict[tuple[int, str], LabelSelector | None] = {}

    def own(self, pod: int, when_unsatisfiable: str) -> Rules:
        """The pod's own constraints of one kind (DoNotSchedule or ScheduleAnyway)."""
        shape, label_set = int(self._columns.shape_of[pod]), int(self._columns.label_set_of[pod])
        constraints = self._columns.shapes[shape].topology_spread
        if not constraints:
            return ()
        key = (shape, label_set, when_unsatisfiable)
        found = self._own.get(key)
        if found is None:
            found = self._own[key] = tuple(
                self._resolve(shape, label_set, constraint, constraint.selector)
                for constraint in constraints
                if constraint.when_unsatisfiable == when_unsatisfiable
            )
        return found

    def defaults(self, pod: int, constraints: tuple[TopologySpreadConstraint, ...]) -> Rules:
        """Constraints for a pod that has none of its own, selecting what its Services and its owner select."""
        shape, label_set = int(self._columns.shape_of[pod]), int(self._columns.label_set_of[pod])
        selector = self._default_selector(pod, label_set)
        if selector is None:
            return ()
        key = (shape, label_set, selector, constraints)
        found = self._defaults.get(key)
        if found is None:
            found = self._defaults[key] = tuple(
                self._resolve(shape, label_set, constraint, selector) for constraint in constraints
            )
        return found

    def _resolve(
        self, shape: int, label_set: int, constraint: TopologySpreadConstraint, selector: LabelSelector | None
    ) -> SpreadRule:
        columns = self._columns
        namespace, labels = columns.label_sets[label_set]
        if selector is not None:
            merged = tuple(Requirement(k, "In", (labels[k],)) for k in constraint.match_label_keys if k in labels)
            selector = LabelSelector((*selector.requirements, *merged))
        pods = np.zeros(0, dtype=np.int64)
        if (
            selector is not None and selector.requirements
        ):  # an empty selector counts no pod, but matches the pod itself
            pods = columns.pod_selection.pods(frozenset((namespace,)), selector)
            pods = pods[~columns.is_terminating[pods]]
        return SpreadRule(
            constraint.topology_key,
            constraint.max_skew,
            constraint.min_domains,
            pods,
            int(columns.pod_selection.selects(None, selector, label_set)),
            _counted_nodes(columns, columns.shapes[shape], constraint),
        )

    def _default_selector(self, pod: int, label_set: int) -> LabelSelector | None:
        owner = self._columns.cluster.pods[pod].controller
        key = (label_set, owner.uid if owner else "")
        if key not in self._selectors:
            self._selectors[key] = default_selector(self._columns, self._columns.cluster.pods[pod])
        return self._selectors[key]


def default_selector(columns: Columns, pod: Pod) -> LabelSelector | None:
    """What the pod's Services and its ReplicaSet, StatefulSet or ReplicationController select; None for nothing."""
    pairs: dict[str, str] = {}
    for service in columns.facts(ServicesByNamespace).get(pod.namespace, ()):
        if all(pod.labels.get(key) == value for key, value in service.items()):
            pairs.update(service)
    requirements = [Requirement(key, "In", (value,)) for key, value in sorted(pairs.items())]
    owner = columns.cluster.owner_of(pod)
    if owner is not None and owner.kind in ("ReplicaSet", "StatefulSet", "ReplicationController") and owner.selector:
        requirements.extend(rule for rule in owner.selector.requirements if rule not in requirements)
    return LabelSelector(tuple(requirements)) if requirements else None


class ServicesByNamespace(dict[str, list[dict[str, str]]]):
    """Selectors of Services by namespace."""

    def __init__(self, columns: Columns) -> None:
        """Read the cluster's Services in the order of their names."""
        super().__init__()
        for service in sorted(columns.cluster.services, key=lambda service: (service.namespace, service.name)):
            self.setdefault(service.namespace, []).append(dict(service.selector))


def _counted_nodes(columns: Columns, spec: PodSpec, constraint: TopologySpreadConstraint) -> BoolArray:
    mask = np.ones(columns.node_count, dtype=np.bool_)
    if constraint.honors_node_affinity:
        required = spec.node_affinity.required if spec.node_affinity else None
        mask &= columns.node_table.demanded(spec.node_selector, required)
    if constraint.honors_node_taints:
        mask &= ~columns.taint_table.untolerated(spec.tolerations)
    return mask
