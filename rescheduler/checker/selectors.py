"""Selectors over labels and nodes, as kube-scheduler reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rescheduler.model.objects.constraints import LabelSelector, NodeSelectorTerm, Requirement
from rescheduler.model.objects.node import Node

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1


def label_selector_matches(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """All rules hold; an absent selector matches nothing, an empty one everything."""
    return selector is not None and _all_hold(selector.requirements, labels)


def telling_labels(selector: LabelSelector | None) -> tuple[tuple[str, str], ...] | None:
    """Labels of which every pod that the selector picks has one; None where no rule tells of any."""
    if selector is None:
        return ()
    told = [
        tuple((rule.key, value) for value in rule.values) for rule in selector.requirements if rule.operator == "In"
    ]
    return min(told, key=len, default=None)


def any_term_matches(terms: Iterable[NodeSelectorTerm], node: Node) -> bool:
    """Terms are alternatives; an empty term, and no term at all, match nothing."""
    return any(_term_matches(term, node) for term in terms)


def _term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    if not term.expressions and not term.fields:
        return False
    for rule in term.fields:
        if rule.key != "metadata.name" or rule.operator not in ("In", "NotIn") or len(rule.values) != 1:
            return False
        if (node.name == rule.values[0]) != (rule.operator == "In"):
            return False
    return _all_hold(term.expressions, node.labels)


def _all_hold(rules: Iterable[Requirement], labels: Mapping[str, str]) -> bool:
    return all(_holds(rule, labels) for rule in rules)


def _holds(rule: Requirement, labels: Mapping[str, str]) -> bool:
    if rule.operator == "Exists":
        return rule.key in labels
    if rule.operator == "DoesNotExist":
        return rule.key not in labels
    if rule.operator == "NotIn":
        return rule.key not in labels or labels[rule.key] not in rule.values
    if rule.key not in labels:
        return False
    if rule.operator == "In":
        return labels[rule.key] in rule.values
    return _compares(rule, labels[rule.key])


def _compares(rule: Requirement, value: str) -> bool:
    """Gt and Lt need one 64-bit integer on each side; nothing else matches."""
    if rule.operator not in ("Gt", "Lt") or len(rule.values) != 1:
        return False
    found, bound = _integer(value), _integer(rule.values[0])
    if found is None or bound is None:
        return False
    return found > bound if rule.operator == "Gt" else found < bound


def _integer(text: str) -> int | None:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isascii() or not digits.isdigit() or len(digits) > 19:
        return None
    number = int(text)
    return number if _SMALLEST <= number <= _LARGEST else None
