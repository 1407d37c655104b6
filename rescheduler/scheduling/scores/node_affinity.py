"""Nodes that match more of the pod's preferred node terms, by weight, score higher."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, PreferredNodeTerm, Requirement
from rescheduler.scheduling.plugin import SCORE_POINTS, NodeOrder, PluginSettings, Priority, SchedulerScore
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import choices, quoted
from rescheduler.scheduling.reading.names import is_qualified_name
from rescheduler.scheduling.scoring.normalization import by_largest
from rescheduler.scheduling.scoring.wording import share_of_largest

_OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]
_NAME_FIELD = "metadata.name"
_INTEGER = re.compile(r"[-+]?[0-9]{1,19}")


@dataclass(frozen=True)
class NodeAffinity(SchedulerScore):
    """All nodes score 0 for a pod without preferred terms."""

    name = "NodeAffinity"
    stands_at = SCORE_POINTS
    default_weight = 2
    priorities = (Priority("NodeAffinityPriority"),)
    node_order = (NodeOrder("nodeaffinity.weight", "NodeAffinity", 2),)

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:  # noqa: ARG003 - the same in all
        """NodeAffinityArgs."""
        added = _added_affinity(fields)
        score = AddedNodeAffinity(added.preferred) if added is not None and added.preferred else cls()
        return PluginSettings(score, profile={"added_affinity": added})

    def score(self, pod: int, placement: Placement, feasible: BoolArray) -> IntArray:
        """Share of the largest sum of weights of matching terms."""
        return preferred_score(self.terms(pod, placement.columns), placement.columns, feasible)

    def explain(self, pod: int, nodes: Sequence[int], placement: Placement, feasible: BoolArray) -> list[str]:
        """Which terms the node matches, and what their weights are of the largest sum."""
        return explain_preferred(self.terms(pod, placement.columns), nodes, placement.columns, feasible)

    def raw(self, pod: int, columns: Columns) -> IntArray:
        """Sum of weights of the matching terms of each node."""
        return columns.facts(PreferredNodes).of(self.terms(pod, columns))

    def terms(self, pod: int, columns: Columns) -> tuple[PreferredNodeTerm, ...]:
        """Preferred terms of the pod itself."""
        affinity = columns.shapes[columns.shape_of[pod]].node_affinity
        return affinity.preferred if affinity else ()


def preferred_score(terms: tuple[PreferredNodeTerm, ...], columns: Columns, feasible: BoolArray) -> IntArray:
    """Score of each node by these terms, all 0 without terms."""
    if not terms:
        return np.zeros(columns.node_count, dtype=np.int64)
    return by_largest(columns.facts(PreferredNodes).of(terms), feasible)


def explain_preferred(
    terms: tuple[PreferredNodeTerm, ...], nodes: Sequence[int], columns: Columns, feasible: BoolArray
) -> list[str]:
    """The same in words for some nodes."""
    scores = preferred_score(terms, columns, feasible)
    if not terms:
        return [f"no preferred terms: {scores[node]}" for node in nodes]
    sums = columns.facts(PreferredNodes).of(terms)
    largest = int(sums[feasible].max(initial=0))
    if not largest:
        return [f"no feasible node matches any of {len(terms)} preferred terms: {scores[node]}" for node in nodes]
    matches = [(term.weight, columns.node_table.matching_term(term.term)) for term in terms]
    texts = []
    for node in nodes:
        weights = [str(weight) for weight, found in matches if found[node]]
        lead = f"{len(weights)} of {len(terms)} preferred terms match, of weight {' + '.join(weights) or 'none'} = "
        texts.append(lead + share_of_largest(int(sums[node]), largest, int(scores[node])))
    return texts


class PreferredNodes:
    """Sums of weights of matching preferred terms, kept by value."""

    def __init__(self, columns: Columns) -> None:
        """Nothing is matched before it is asked for."""
        self._columns = columns
        self._kept: dict[tuple[PreferredNodeTerm, ...], IntArray] = {}

    def of(self, preferred: tuple[PreferredNodeTerm, ...]) -> IntArray:
        """Sum of weights for each node, int64[N]; an empty term matches nothing."""
        found = self._kept.get(preferred)
        if found is None:
            found = np.zeros(self._columns.node_count, dtype=np.int64)
            for wish in preferred:
                found += wish.weight * self._columns.node_table.matching_term(wish.term)
            self._kept[preferred] = found
        return found


@dataclass(frozen=True)
class AddedNodeAffinity(NodeAffinity):
    """NodeAffinity of a profile whose ``addedAffinity`` has preferred terms: they count for every pod."""

    added: tuple[PreferredNodeTerm, ...]

    def terms(self, pod: int, columns: Columns) -> tuple[PreferredNodeTerm, ...]:
        """Preferred terms of the profile and of the pod."""
        return (*self.added, *super().terms(pod, columns))


def _added_affinity(fields: Fields) -> NodeAffinityRules | None:
    """Node affinity that all pods of a profile get on top of their own; None where nothing is added."""
    if not fields.has("addedAffinity"):
        fields.refuse_unread()
        return None
    added = fields.child("addedAffinity")
    required = None
    if added.has("requiredDuringSchedulingIgnoredDuringExecution"):
        selector = added.child("requiredDuringSchedulingIgnoredDuringExecution")
        required = tuple(_term(term) for term in selector.children("nodeSelectorTerms"))
        selector.refuse_unread()
    preferred = []
    for item in added.children("preferredDuringSchedulingIgnoredDuringExecution"):
        weight = item.integer("weight", 0)
        preferred.append(PreferredNodeTerm(weight, _term(item.child("preference"))))
        item.refuse_unread()
    added.refuse_unread()
    fields.refuse_unread()
    return NodeAffinityRules(required, tuple(preferred))


def _term(fields: Fields) -> NodeSelectorTerm:
    expressions = tuple(_requirement(item, is_field=False) for item in fields.children("matchExpressions"))
    on_fields = tuple(_requirement(item, is_field=True) for item in fields.children("matchFields"))
    fields.refuse_unread()
    return NodeSelectorTerm(expressions, on_fields)


def _requirement(fields: Fields, *, is_field: bool) -> Requirement:
    key, operator = fields.text("key"), fields.text("operator")
    values = tuple(value for _, value in fields.names("values"))
    findings = fields.findings
    known = ["In", "NotIn"] if is_field else _OPERATORS
    if not key:
        findings.refuse(fields.path, "key is missing; write the label's key")
    if key and not is_qualified_name(key):
        findings.refuse(fields.at("key"), f"found {quoted(key)}; wanted a label's key: NAME or DOMAIN/NAME")
    if is_field and key and key != _NAME_FIELD:
        findings.refuse(fields.at("key"), f"found {quoted(key)}; there is only {_NAME_FIELD}")
    if operator not in known:
        findings.refuse(fields.at("operator"), f"found {quoted(operator)}; {choices(operator, known)}")
    elif not _suits(operator, values, is_field=is_field):
        findings.refuse(fields.at("values"), f"{operator} {_WANTED_VALUES[_kind(operator, is_field=is_field)]}")
    fields.refuse_unread()
    return Requirement(key, operator, values)


_WANTED_VALUES = {
    "one": "takes exactly one value here",
    "some": "needs values; write values: [...] with at least one",
    "none": "takes no values; leave them out",
    "integer": "takes exactly one value, a whole number in quotes",
}


def _kind(operator: str, *, is_field: bool) -> str:
    if is_field:
        return "one"
    return {"In": "some", "NotIn": "some", "Exists": "none", "DoesNotExist": "none"}.get(operator, "integer")


def _suits(operator: str, values: tuple[str, ...], *, is_field: bool) -> bool:
    kind = _kind(operator, is_field=is_field)
    if kind == "one":
        return len(values) == 1
    if kind == "integer":
        return len(values) == 1 and _INTEGER.fullmatch(values[0]) is not None
    return bool(values) == (kind == "some")
