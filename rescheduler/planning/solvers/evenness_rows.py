"""Spread constraints in the make-room models: what must hold at the end of every allowed plan.

A constraint binds arrivals only, so the last arrival in a domain is looked at: by then the domain holds at least its
pods that never leave and those that arrive under the constraint, and no other domain holds more than it had and gets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from rescheduler.planning.instance import Evenness, SpreadDomain

Arrivals = Mapping[tuple[int, int], cp_model.IntVar]


@dataclass(frozen=True)
class Least:
    """A variable that is at most each of these sums of a number and variables."""

    variable: cp_model.IntVar
    terms: tuple[tuple[int, tuple[cp_model.IntVar, ...]], ...]

    def value(self, values: Mapping[int, int]) -> int:
        """The largest value it may have, for values of other variables by index."""
        sums = (number + sum(values.get(variable.index, 0) for variable in parts) for number, parts in self.terms)
        return min(sums, default=0)


class EvennessRows:
    """Adds the rows of one constraint; ``least`` is then the variable for the least domain, if there is one."""

    def __init__(
        self, model: cp_model.CpModel, evenness: Evenness, arrive: Arrivals, out: Sequence[cp_model.IntVar]
    ) -> None:
        """``arrive`` by (kind, node), ``out`` by group."""
        self._model = model
        self._evenness = evenness
        self._arrive = arrive
        self._out = out
        self.least = None if evenness.is_from_zero else self._least()

    def newcomers(self, domain: SpreadDomain) -> list[cp_model.IntVar]:
        """Arrivals in a domain that the constraint binds."""
        return self._at(self._evenness.kinds, domain.nodes)

    def bind(self, domain: SpreadDomain, arrives: cp_model.IntVar) -> None:
        """If ``arrives`` is true, the domain may exceed the least one no further than allowed."""
        evenness = self._evenness
        own = self._at(evenness.kinds, domain.counted) if evenness.counts_itself else []
        staying = domain.count - cp_model.LinearExpr.sum([self._out[group] for group in domain.groups])
        others = staying + cp_model.LinearExpr.sum(own) - (1 if evenness.counts_itself else 0)
        least = 0 if self.least is None else self.least.variable
        self._model.add(others <= evenness.most + least).only_enforce_if(arrives)

    def _least(self) -> Least:
        evenness = self._evenness
        terms = tuple(
            (domain.count, tuple(self._at(evenness.counted_kinds, domain.counted)))
            for domain in evenness.domains
            if domain.is_least
        )
        variable = self._model.new_int_var(0, 2**20, "")
        for number, parts in terms:
            self._model.add(variable <= number + cp_model.LinearExpr.sum(list(parts)))
        return Least(variable, terms)

    def _at(self, kinds: Sequence[int], nodes: Sequence[int]) -> list[cp_model.IntVar]:
        return [self._arrive[kind, node] for kind in kinds for node in nodes if (kind, node) in self._arrive]
