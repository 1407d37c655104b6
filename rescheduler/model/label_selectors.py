"""Label selectors: matching labels, and reading selectors from a policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from rescheduler.model.constraints import LabelSelector, Requirement
from rescheduler.model.matching import holds


class PolicyRequirement(Protocol):
    """One rule of a selector as a policy writes it."""

    @property
    def key(self) -> str:
        """Label key."""

    @property
    def operator(self) -> str:
        """In, NotIn, Exists, DoesNotExist."""

    @property
    def values(self) -> Sequence[str]:
        """Values for In and NotIn."""


class PolicySelector(Protocol):
    """A selector as a policy writes it."""

    @property
    def match_labels(self) -> Mapping[str, str]:
        """Labels that must be equal."""

    @property
    def match_expressions(self) -> Sequence[PolicyRequirement]:
        """Further rules."""


def read_selector(selector: PolicySelector) -> LabelSelector:
    """The selector that a policy describes; without any rule it selects everything."""
    equal = [Requirement(key, "In", (value,)) for key, value in sorted(selector.match_labels.items())]
    further = [Requirement(rule.key, rule.operator, tuple(rule.values)) for rule in selector.match_expressions]
    return LabelSelector((*equal, *further))


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """True if every rule holds. An absent selector selects nothing, an empty one everything."""
    return selector is not None and all(holds(rule, labels.get(rule.key)) for rule in selector.requirements)


def describe(selector: LabelSelector) -> str:
    """A selector as kubectl writes it."""
    return ",".join(_written(rule) for rule in selector.requirements) or "everything"


def _written(rule: Requirement) -> str:
    if rule.operator == "In" and len(rule.values) == 1:
        return f"{rule.key}={rule.values[0]}"
    if rule.operator in ("In", "NotIn"):
        return f"{rule.key} {rule.operator.lower()} ({','.join(rule.values)})"
    return rule.key if rule.operator == "Exists" else f"!{rule.key}"
