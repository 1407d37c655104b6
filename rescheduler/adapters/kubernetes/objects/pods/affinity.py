"""Affinity, tolerations and spread of a pod, and what of them is not modelled."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, TypeVar

from msgspec import Raw

from rescheduler.adapters.kubernetes.objects.decoding.decode import decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import NULL
from rescheduler.adapters.kubernetes.objects.decoding.selectors import (
    label_selector,
    node_selector_term,
    node_selector_terms,
    unknown_node_rules,
    unknown_rules,
)
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import (
    NodeAffinityObject,
    PodAffinityObject,
    PodAffinityTermObject,
    TolerationObject,
    TopologySpreadConstraintObject,
)
from rescheduler.model.objects.constraints import (
    NodeAffinityRules,
    PodAffinityTerm,
    PreferredNodeTerm,
    PreferredPodAffinityTerm,
    Toleration,
    TopologySpreadConstraint,
)

T = TypeVar("T")
_TOLERATION_OPERATORS = ("", "Equal", "Exists", "Lt", "Gt")
_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_POLICIES = ("Honor", "Ignore", None)


class PodAffinity(NamedTuple):
    """Terms that must hold, and wishes."""

    required: tuple[PodAffinityTerm, ...] = ()
    preferred: tuple[PreferredPodAffinityTerm, ...] = ()


def node_affinity(raw: Raw) -> tuple[NodeAffinityRules | None, tuple[str, ...]]:
    """``spec.affinity.nodeAffinity``, and what of it is not understood. Raises ObjectError."""
    found = _decoded(raw, NodeAffinityObject, "spec.affinity.nodeAffinity")
    if found is None:
        return None, ()
    required = node_selector_terms(found.required)
    preferred = tuple(
        PreferredNodeTerm(wish.weight, node_selector_term(wish.preference)) for wish in found.preferred or ()
    )
    unknown = unknown_node_rules((*(required or ()), *(wish.term for wish in preferred)))
    return NodeAffinityRules(required, preferred), tuple(f"node affinity with {text}" for text in unknown)


def pod_affinity(raw: Raw, field: str) -> tuple[PodAffinity, tuple[str, ...]]:
    """``podAffinity`` or ``podAntiAffinity``, and what of it is not understood. Raises ObjectError."""
    found = _decoded(raw, PodAffinityObject, f"spec.affinity.{field}")
    if found is None:
        return PodAffinity(), ()
    required = tuple(_term(term) for term in found.required or ())
    preferred = tuple(
        PreferredPodAffinityTerm(wish.weight, _term(wish.pod_affinity_term)) for wish in found.preferred or ()
    )
    terms = (*required, *(wish.term for wish in preferred))
    unknown = [text for term in terms for each in (term.selector, term.namespace_selector)
               for text in unknown_rules(each)]  # fmt: skip
    return PodAffinity(required, preferred), tuple(f"{field} with {text}" for text in unknown)


@lru_cache(maxsize=4096)
def tolerations(text: bytes) -> tuple[tuple[Toleration, ...], tuple[str, ...]]:
    """``spec.tolerations``, and what of them is not understood. Raises ObjectError."""
    found = tuple(
        Toleration(item.key or "", item.operator or "Equal", item.value or "", item.effect or "")
        for item in _decoded(text, list[TolerationObject], "spec.tolerations") or ()
    )
    unknown = [item.operator for item in found if item.operator not in _TOLERATION_OPERATORS]
    return found, tuple(f"toleration with operator {operator!r}" for operator in unknown)


def topology_spread(raw: Raw) -> tuple[tuple[TopologySpreadConstraint, ...], tuple[str, ...]]:
    """``spec.topologySpreadConstraints``, and what of them is not understood. Raises ObjectError."""
    written = _decoded(raw, list[TopologySpreadConstraintObject], "spec.topologySpreadConstraints") or ()
    found = tuple(_spread(item) for item in written)
    return found, tuple(f"topology spread with {text}" for text in _unknown_spread(written, found))


def _spread(item: TopologySpreadConstraintObject) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(
        topology_key=item.topology_key,
        max_skew=item.max_skew,
        when_unsatisfiable=item.when_unsatisfiable or "DoNotSchedule",
        selector=label_selector(item.label_selector),
        min_domains=item.min_domains or 1,
        match_label_keys=tuple(item.match_label_keys or ()),
        honors_node_affinity=item.node_affinity_policy != "Ignore",
        honors_node_taints=item.node_taints_policy == "Honor",
    )


def _unknown_spread(
    written: Iterable[TopologySpreadConstraintObject], found: Iterable[TopologySpreadConstraint]
) -> Iterable[str]:
    for item, constraint in zip(written, found, strict=True):
        if constraint.when_unsatisfiable not in _ACTIONS:
            yield f"whenUnsatisfiable {constraint.when_unsatisfiable!r}"
        for policy in (item.node_affinity_policy, item.node_taints_policy):
            if policy not in _POLICIES:
                yield f"policy {policy!r}"
        yield from unknown_rules(constraint.selector)


def _term(term: PodAffinityTermObject) -> PodAffinityTerm:
    return PodAffinityTerm(
        topology_key=term.topology_key,
        selector=label_selector(term.label_selector),
        namespaces=tuple(term.namespaces or ()),
        namespace_selector=label_selector(term.namespace_selector),
    )


def _decoded(raw: Raw | bytes, wanted: type[T], path: str) -> T | None:
    text = bytes(raw)
    return None if text in NULL else decode(text, wanted, path)
