"""Label and node selectors in the one form that the model has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rescheduler.adapters.kubernetes.objects.decoding.metadata import (
    LabelSelectorObject,
    LabelSelectorRequirementObject,
    NodeSelectorObject,
    NodeSelectorTermObject,
)
from rescheduler.model.objects.constraints import LabelSelector, NodeSelectorTerm, Requirement

LABEL_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")
NODE_OPERATORS = (*LABEL_OPERATORS, "Gt", "Lt")


def equal_labels(labels: Mapping[str, str] | None) -> tuple[Requirement, ...]:
    """``key: value`` pairs as rules, sorted by key."""
    return tuple(Requirement(key, "In", (value,)) for key, value in sorted((labels or {}).items()))


def label_selector(found: LabelSelectorObject | None) -> LabelSelector | None:
    """A selector; an absent one stays None and selects nothing."""
    if found is None:
        return None
    return LabelSelector((*equal_labels(found.match_labels), *requirements(found.match_expressions)))


def requirements(found: Iterable[LabelSelectorRequirementObject] | None) -> tuple[Requirement, ...]:
    """Rules in their order."""
    return tuple(Requirement(rule.key, rule.operator, tuple(rule.values or ())) for rule in found or ())


def node_selector_term(found: NodeSelectorTermObject) -> NodeSelectorTerm:
    """One term of a node selector."""
    return NodeSelectorTerm(requirements(found.match_expressions), requirements(found.match_fields))


def node_selector_terms(found: NodeSelectorObject | None) -> tuple[NodeSelectorTerm, ...] | None:
    """The terms of a node selector; None where there is none."""
    if found is None:
        return None
    return tuple(node_selector_term(term) for term in found.node_selector_terms or ())


def unknown_rules(selector: LabelSelector | None) -> tuple[str, ...]:
    """What is not understood in a label selector; empty if all is well."""
    return tuple(_unknown(rule, LABEL_OPERATORS) for rule in (selector.requirements if selector else ())
                 if _unknown(rule, LABEL_OPERATORS))  # fmt: skip


def unknown_node_rules(terms: Iterable[NodeSelectorTerm]) -> tuple[str, ...]:
    """What is not understood in node selector terms; empty if all is well."""
    found = [_unknown(rule, NODE_OPERATORS) for term in terms for rule in term.expressions]
    fields = [rule for term in terms for rule in term.fields]
    found += [f"field {rule.key!r}" for rule in fields if rule.key != "metadata.name"]
    found += [_unknown(rule, ("In", "NotIn")) for rule in fields]
    return tuple(text for text in found if text)


def _unknown(rule: Requirement, operators: tuple[str, ...]) -> str:
    if rule.operator not in operators:
        return f"operator {rule.operator!r}"
    if rule.operator in ("In", "NotIn") and not rule.values:
        return f"operator {rule.operator} without values"
    if rule.operator in ("Exists", "DoesNotExist") and rule.values:
        return f"operator {rule.operator} with values"
    return ""
