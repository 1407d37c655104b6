"""Label selectors and node selector terms, matched against many label sets or nodes at once.

Rules are kube-scheduler's: NotIn and DoesNotExist hold where the label is absent, Gt and Lt need integers on both
sides, an empty node term matches nothing, an empty label selector everything and an absent one nothing.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IndexArray, IntArray
from rescheduler.model.objects.constraints import LabelSelector, NodeSelectorTerm, Requirement
from rescheduler.model.objects.node import Node

Pairs: TypeAlias = tuple[tuple[str, str], ...]
Terms: TypeAlias = tuple[NodeSelectorTerm, ...]

NAME_FIELD = "metadata.name"
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")
_LARGEST_INTEGER = 2**63 - 1
MANY_LABELS: Final = 256
"""Maps of more are not compared by content: that takes longer than to do once more what is done for equal ones."""


def as_integer(text: str) -> int | None:
    """A label value as Gt and Lt read it: a decimal 64-bit integer, else None."""
    if _INTEGER.fullmatch(text) is None:
        return None
    value = int(text)
    return value if -_LARGEST_INTEGER - 1 <= value <= _LARGEST_INTEGER else None


def holds(requirement: Requirement, value: str | None) -> bool:
    """Whether one rule holds for one label value (None: the label is absent). An unknown operator never holds."""
    operator = requirement.operator
    if operator in ("NotIn", "DoesNotExist"):
        return value is None or (operator == "NotIn" and value not in requirement.values)
    if value is None or operator not in ("In", "Exists", "Gt", "Lt"):
        return False
    if operator in ("In", "Exists"):
        return operator == "Exists" or value in requirement.values
    if len(requirement.values) != 1:
        return False
    left, right = as_integer(value), as_integer(requirement.values[0])
    if left is None or right is None:
        return False
    return left > right if operator == "Gt" else left < right


class LabelColumn:
    """One label's value on each of n objects: a code per object, -1 where the label is absent."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        """Number the distinct values in the order in which they are met."""
        self.code_by_value: dict[str, int] = {}
        number = self.code_by_value
        self.codes: IndexArray = np.fromiter(
            (-1 if text is None else number.setdefault(text, len(number)) for text in texts),
            dtype=np.int32,
            count=len(texts),
        )
        self._order: IntArray | None = None
        self._starts: IntArray | None = None

    def accepted(self, requirement: Requirement) -> BoolArray:
        """For each code whether the rule holds, with "absent" in the last place (where code -1 finds it)."""
        operator = requirement.operator
        if operator in ("Gt", "Lt"):
            return np.array([holds(requirement, value) for value in (*self.code_by_value, None)], dtype=np.bool_)
        # Without a look at every value, of which there may be very many.
        table = np.full(len(self.code_by_value) + 1, operator in ("Exists", "NotIn"), dtype=np.bool_)
        table[-1] = operator in ("DoesNotExist", "NotIn")
        if operator in ("In", "NotIn"):
            codes = [self.code_by_value[value] for value in requirement.values if value in self.code_by_value]
            table[codes] = operator == "In"
        return table

    def positions(self, values: Iterable[str]) -> IntArray:
        """Objects whose label has one of the values, ascending."""
        if self._order is None or self._starts is None:
            self._order = np.argsort(self.codes, kind="stable")
            self._starts = np.searchsorted(self.codes[self._order], np.arange(len(self.code_by_value) + 1))
        codes = {self.code_by_value[value] for value in values if value in self.code_by_value}
        slices = [self._order[self._starts[code] : self._starts[code + 1]] for code in codes]
        if len(slices) == 1:
            return slices[0]
        return np.sort(np.concatenate(slices)) if slices else np.zeros(0, dtype=np.int64)


class LabelTable:
    """Labels of n objects as columns, each made when first asked for."""

    def __init__(self, labels: Sequence[Mapping[str, str]]) -> None:
        """``labels`` of each object."""
        self._labels = labels
        self._columns: dict[str, LabelColumn] = {}

    def __len__(self) -> int:
        return len(self._labels)

    def column(self, key: str) -> LabelColumn:
        """The values of one label."""
        found = self._columns.get(key)
        if found is None:
            found = self._columns[key] = LabelColumn([labels.get(key) for labels in self._labels])
        return found

    def matching(self, requirements: Iterable[Requirement]) -> BoolArray:
        """Objects for which all rules hold, bool[n]."""
        mask = np.ones(len(self), dtype=np.bool_)
        for requirement in requirements:
            column = self.column(requirement.key)
            mask &= column.accepted(requirement)[column.codes]
        return mask

    def positions(self, requirements: Sequence[Requirement], among: IntArray | None = None) -> IntArray:
        """Objects (of ``among``, None: of all) for which all rules hold, ascending; quick where few do."""
        for requirement in requirements:
            if requirement.operator == "In":
                narrowed = self.column(requirement.key).positions(requirement.values)
                if among is None or len(narrowed) < len(among):
                    among = narrowed if among is None else _common(narrowed, among)
        if among is None:
            return np.flatnonzero(self.matching(requirements))
        for requirement in requirements:
            column = self.column(requirement.key)
            among = among[column.accepted(requirement)[column.codes[among]]]
        return among


def _common(few: IntArray, many: IntArray) -> IntArray:
    """Members of both ascending arrays; quick where ``few`` is much the shorter one."""
    places = np.minimum(np.searchsorted(many, few), len(many) - 1)
    common: IntArray = few[many[places] == few]
    return common


class NodeTable:
    """Nodes as node selectors, affinities and topologies see them."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        """Labels are read when first asked for."""
        self.labels = LabelTable([node.labels for node in nodes])
        self.names = LabelTable([{NAME_FIELD: node.name} for node in nodes])
        self._by_terms: dict[Terms, BoolArray] = {}
        self._by_demand: dict[tuple[Pairs, Terms | None], BoolArray] = {}

    def matching_pairs(self, pairs: Iterable[tuple[str, str]]) -> BoolArray:
        """Nodes that carry all labels of a node selector, bool[N]."""
        return self.labels.matching(Requirement(key, "In", (value,)) for key, value in pairs)

    def demanded(self, pairs: Pairs, terms: Terms | None) -> BoolArray:
        """Nodes that satisfy a node selector and required node affinity (None: none), bool[N]; do not write to it."""
        found = self._by_demand.get((pairs, terms))
        if found is None:
            found = self.matching_pairs(pairs)
            if terms is not None:
                found &= self.matching_any(terms)
            self._by_demand[pairs, terms] = found
        return found

    def matching_term(self, term: NodeSelectorTerm) -> BoolArray:
        """Nodes for which all rules of one term hold, bool[N]; none for an empty or invalid term."""
        if not (term.expressions or term.fields) or not all(map(_is_valid_field, term.fields)):
            return np.zeros(len(self.labels), dtype=np.bool_)
        return self.labels.matching(term.expressions) & self.names.matching(term.fields)

    def matching_any(self, terms: Terms) -> BoolArray:
        """Nodes that match at least one term, bool[N]; kept by value, so callers must not write to it."""
        found = self._by_terms.get(terms)
        if found is None:
            found = np.zeros(len(self.labels), dtype=np.bool_)
            for term in terms:
                found |= self.matching_term(term)
            self._by_terms[terms] = found
        return found


def _is_valid_field(requirement: Requirement) -> bool:
    return requirement.key == NAME_FIELD and requirement.operator in ("In", "NotIn") and len(requirement.values) == 1


# Label selectors: matching labels, and reading selectors from a policy.


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


class WrittenSelector(Protocol):
    """A selector as a policy writes it."""

    @property
    def match_labels(self) -> Mapping[str, str]:
        """Labels that must be equal."""

    @property
    def match_expressions(self) -> Sequence[PolicyRequirement]:
        """Further rules."""


def read_selector(selector: WrittenSelector) -> LabelSelector:
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
    if rule.operator in ("Gt", "Lt"):
        return f"{rule.key}{'>' if rule.operator == 'Gt' else '<'}{''.join(rule.values)}"
    return rule.key if rule.operator == "Exists" else f"!{rule.key}"


def same_labels(labels: Mapping[str, str]) -> Hashable:
    """A key that equal labels or annotations share; very many share it with the very same object alone."""
    return id(labels) if len(labels) > MANY_LABELS else frozenset(labels.items())
