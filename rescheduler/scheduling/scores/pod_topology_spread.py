"""Nodes in domains with fewer matching pods score higher, by the ScheduleAnyway constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import HOSTNAME, SYSTEM_DEFAULTS, SpreadRule, SpreadRules
from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.scheduling.plugin import SCORE_POINTS, NodeOrder, PluginSettings, Priority, SchedulerScore
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import choices, quoted
from rescheduler.scheduling.scoring.normalization import MAX_SCORE

_KINDS = ["DoNotSchedule", "ScheduleAnyway"]
_TYPES = ["List", "System"]
_POLICIES = ["Honor", "Ignore"]


@dataclass(frozen=True)
class PodTopologySpread(SchedulerScore):
    """The pod's own constraints, or ``defaults`` where it has none at all.

    ``defaults_need_all_keys``: whether nodes that lack a key of the defaults score 0, as they do for a pod's own
    constraints and for defaults that an operator wrote, but not for the built-in ones.
    """

    defaults: tuple[TopologySpreadConstraint, ...] = SYSTEM_DEFAULTS
    defaults_need_all_keys: bool = False
    name = "PodTopologySpread"
    stands_at = SCORE_POINTS
    default_weight = 2
    priorities = (Priority("EvenPodsSpreadPriority", {"defaults": ()}),)
    node_order = (NodeOrder("podtopologyspread.weight", "PodTopologySpread", 2),)

    @classmethod
    def default(cls) -> PluginSettings:
        """By the constraints of kube-scheduler itself."""
        return _settings(SYSTEM_DEFAULTS, is_own=False)

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:
        """PodTopologySpreadArgs. Before v1beta2 the type is List where constraints are given, else System."""
        constraints = tuple(_constraint(item) for item in fields.children("defaultConstraints"))
        kind = fields.text("defaultingType")
        fields.refuse_unread()
        if not kind:
            kind = "List" if constraints and version in ("v1alpha2", "v1beta1") else "System"
        if kind not in _TYPES:
            fields.findings.refuse(fields.at("defaultingType"), f"found {quoted(kind)}; {choices(kind, _TYPES)}")
        elif kind == "System" and constraints:
            fields.findings.refuse(
                fields.at("defaultConstraints"), "given without defaultingType: List; kube-scheduler refuses that"
            )
        _refuse_repeated(fields, constraints)
        return _settings(constraints, is_own=True) if kind == "List" else cls.default()

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Score of each node; 0 for all without constraints, 0 for a node that lacks a needed key."""
        found = self._counts(pod, placement, feasible)
        if not found.counts:
            return found.raw
        return _normalized(found.raw, feasible & found.has_keys) * found.has_keys

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Pods that each constraint counts, their weighted sum, and how it lies among those of other nodes."""
        scores = self.score(pod, placement, feasible)
        found = self._counts(pod, placement, feasible)
        if not found.counts:
            return [f"nothing to spread by (no ScheduleAnyway constraint): {scores[node]}" for node in nodes]
        among = found.raw[feasible & found.has_keys]
        least, largest = (int(among.min()), int(among.max())) if among.size else (0, 0)
        texts = []
        for node in nodes:
            own = int(found.raw[node])
            formula = (
                f"least {least} and most {largest} on feasible nodes; 100 x ({largest} + {least} - {own}) / {largest}"
            )
            if not found.has_keys[node]:
                formula = "but a node without all keys gets nothing"
            elif not largest:
                formula = "as on all feasible nodes"
            told = "; ".join(count.told(node) for count in found.counts)
            texts.append(f"{told}; sum {own}, {formula} = {scores[node]}")
        return texts

    def _counts(self, pod: int, placement: Placement, feasible: BoolArray) -> _Counts:
        columns = placement.columns
        facts = columns.facts(SpreadRules)
        rules, needs_all_keys = facts.own(pod, "ScheduleAnyway"), True
        if not columns.shapes[columns.shape_of[pod]].topology_spread:
            soft = tuple(rule for rule in self.defaults if rule.when_unsatisfiable == "ScheduleAnyway")
            rules, needs_all_keys = facts.defaults(pod, soft), self.defaults_need_all_keys
        has_keys = np.ones(columns.node_count, dtype=np.bool_)
        if not rules:
            return _Counts([], has_keys, np.zeros(columns.node_count, dtype=np.int64))
        if needs_all_keys:
            for rule in rules:
                has_keys &= columns.domains.of(rule.topology_key)[0] != NOWHERE
        counts = [_count(rule, has_keys, feasible & has_keys, pod, placement) for rule in rules]
        raw = np.zeros(columns.node_count, dtype=np.float64)
        for count in counts:
            raw += count.added
        return _Counts(counts, has_keys, np.floor(raw + 0.5).astype(np.int64))


class _Count(NamedTuple):
    """What one constraint counts: pods in each node's domain, int64[N], with so many domains among the scored nodes.

    ``added``: matching pods times a weight that grows with the number of domains, and the allowed skew less 1.
    """

    rule: SpreadRule
    pods: IntArray
    has_key: BoolArray
    domains: int
    added: npt.NDArray[np.float64]

    def told(self, node: int) -> str:
        """One node in words."""
        if not self.has_key[node]:
            return f"{self.rule.topology_key} is not on the node"
        points = f"{self.pods[node]} x ln({self.domains} + 2) + {self.rule.max_skew - 1} = {self.added[node]:.2f}"
        return f"matching pods by {self.rule.topology_key} {points}"


class _Counts(NamedTuple):
    """All constraints; nodes that count, bool[N]; the sum of what is added, to the nearest, int64[N]."""

    counts: list[_Count]
    has_keys: BoolArray
    raw: IntArray


def _count(rule: SpreadRule, has_keys: BoolArray, scored: BoolArray, pod: int, placement: Placement) -> _Count:
    """Pods that a constraint counts.

    Host names count the node's own pods, whatever the policies say; other keys count on all nodes that pass them.
    """
    columns = placement.columns
    codes, values = columns.domains.of(rule.topology_key)
    sites = placement.sites(rule.pods, without=pod)
    if rule.topology_key == HOSTNAME:
        domains = int(scored.sum())
        counts = np.bincount(sites, minlength=columns.node_count)
    else:
        # A node without the key is a domain of its own here (an empty value), in the first slot.
        is_domain = np.zeros(len(values) + 1, dtype=np.bool_)
        is_domain[codes[scored] + 1] = True
        domains = int(is_domain.sum())
        counted = sites[(has_keys & rule.counted_nodes)[sites]]
        by_domain = np.bincount(codes[counted] + 1, minlength=len(values) + 1)
        counts = (by_domain * is_domain)[codes + 1]
    has_key = codes != NOWHERE
    added = counts * log(domains + 2) + float(rule.max_skew - 1)
    return _Count(rule, counts, has_key, domains, np.where(has_key, added, 0.0))


def _normalized(raw: IntArray, scored: BoolArray) -> IntArray:
    among = raw[scored]
    largest = int(among.max(initial=0))
    if largest == 0:
        return np.full_like(raw, MAX_SCORE)
    # Truncated toward zero; nodes that are not scored may lie outside and mean nothing.
    return MAX_SCORE * (largest + int(among.min()) - raw) // largest


def _settings(constraints: tuple[TopologySpreadConstraint, ...], *, is_own: bool) -> PluginSettings:
    """``is_own``: an operator wrote them."""
    score = PodTopologySpread(constraints, defaults_need_all_keys=is_own)
    return PluginSettings(score, profile={"default_constraints": constraints, "has_own_defaults": is_own})


def _constraint(fields: Fields) -> TopologySpreadConstraint:
    key, kind = fields.text("topologyKey"), fields.text("whenUnsatisfiable")
    skew = fields.integer("maxSkew", 0)
    findings = fields.findings
    if skew <= 0:
        findings.refuse(fields.at("maxSkew"), f"found {skew}; wanted 1 or more")
    if not key:
        findings.refuse(fields.path, "topologyKey is missing; write a node label's key")
    if kind not in _KINDS:
        findings.refuse(fields.at("whenUnsatisfiable"), f"found {quoted(kind)}; {choices(kind, _KINDS)}")
    if fields.has("labelSelector"):
        findings.refuse(fields.at("labelSelector"), "not allowed here; each pod's Services and owner give the selector")
    found = TopologySpreadConstraint(
        topology_key=key,
        max_skew=max(skew, 1),
        when_unsatisfiable=kind,
        min_domains=max(fields.integer("minDomains", 1), 1),
        match_label_keys=tuple(name for _, name in fields.names("matchLabelKeys")),
        honors_node_affinity=_policy(fields, "nodeAffinityPolicy", "Honor") == "Honor",
        honors_node_taints=_policy(fields, "nodeTaintsPolicy", "Ignore") == "Honor",
    )
    fields.refuse_unread()
    return found


def _policy(fields: Fields, name: str, default: str) -> str:
    value = fields.text(name, default)
    if value not in _POLICIES:
        fields.findings.warn(fields.at(name), f"found {quoted(value)}; {choices(value, _POLICIES)}; read as {default}")
        return default
    return value


def _refuse_repeated(fields: Fields, constraints: tuple[TopologySpreadConstraint, ...]) -> None:
    seen: set[tuple[str, str]] = set()
    for number, constraint in enumerate(constraints):
        identity = (constraint.topology_key, constraint.when_unsatisfiable)
        if identity in seen:
            text = f"{quoted(constraint.topology_key)} with {constraint.when_unsatisfiable} is given twice"
            fields.findings.refuse((*fields.path, "defaultConstraints", number), text)
        seen.add(identity)
