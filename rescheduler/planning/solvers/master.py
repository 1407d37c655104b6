"""The master: which node takes which pending pods, one column per node, by CP-SAT."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.cp_sat import cp_model
from rescheduler.planning.solvers.lexicographic_solver import LexicographicSolver


@dataclass(frozen=True)
class Column:
    """One node takes ``counts[c]`` pods of each class c (none if empty) at a cost, by evicting the pods ``rows``.

    ``total``: of all classes together no more than that (0: as many as ``counts`` says).
    """

    node: int
    counts: tuple[int, ...]
    cost: int
    rows: tuple[int, ...] = ()
    total: int = 0


class AtMost(NamedTuple):
    """Chosen columns together may use no more than ``limit``; ``use[i]`` is what column i uses."""

    use: tuple[int, ...]
    limit: int


class HelpAtLeast(NamedTuple):
    """So many pods of these classes together must be helped."""

    classes: tuple[int, ...]
    number: int


@dataclass(frozen=True)
class MasterAnswer:
    """Chosen columns (positions), helped pods by class, the cost and its proven bound."""

    chosen: tuple[int, ...]
    helped: tuple[int, ...]
    cost: int
    bound: int
    is_help_proven: bool


@dataclass(frozen=True)
class Conditions:
    """What an answer must meet besides the columns' own rules.

    ``at_least``: help that is asked for whatever it costs; ``at_most``: bars on columns; ``most_helped``: a ceiling on
    the number of helped pods; ``together``: classes that are helped whole or not at all, in groups;
    ``evictions_per_pod``: what one pod of the last stage is worth, in units of cost (None: any cost; else that stage is
    of one importance).
    """

    at_least: Sequence[HelpAtLeast] = ()
    at_most: Sequence[AtMost] = ()
    most_helped: int | None = None
    together: Sequence[Sequence[int]] = ()
    evictions_per_pod: int | None = None


def solve_master(
    columns: Sequence[Column],
    wanted: Sequence[int],
    stages: Sequence[Mapping[int, int]],
    deadline: Deadline,
    seed: int,
    conditions: Conditions | None = None,
) -> MasterAnswer | None:
    """Help as much as can be by the weighted ``stages`` (weight by class, most important stage first), then cheaply.

    ``wanted``: pods of each class. None if no answer was found in time, or if there is none.
    """
    model = cp_model.CpModel()
    use = [model.new_bool_var("") for _ in columns]
    _one_column_per_node(model, columns, use)
    helped = _helped(model, columns, use, wanted)
    conditions = conditions or Conditions()
    _impose(model, use, helped, wanted, conditions)
    cost = cp_model.LinearExpr.weighted_sum(use, [column.cost for column in columns]) if columns else 0
    solver = LexicographicSolver(model, [*use, *helped], seed)
    solver.hint(zip(use, _greedily(columns, wanted, conditions), strict=True))
    is_help_proven = _help_most(solver, helped, cost, stages, deadline, conditions.evictions_per_pod, sum(wanted))
    if is_help_proven is None:
        return None
    stage = solver.run(cost, maximize=False, deadline=deadline, deterministic_seconds=0.8)
    if solver.solution is None:
        return None
    values = solver.solution
    chosen = tuple(number for number in range(len(columns)) if values[number])
    return MasterAnswer(
        chosen=chosen,
        helped=tuple(values[len(columns) :]),
        cost=sum(columns[number].cost for number in chosen),
        bound=stage.bound or 0,
        is_help_proven=is_help_proven,
    )


def _help_most(
    solver: LexicographicSolver,
    helped: Sequence[cp_model.IntVar],
    cost: cp_model.LinearExprT,
    stages: Sequence[Mapping[int, int]],
    deadline: Deadline,
    evictions_per_pod: int | None,
    wanted: int,
) -> bool | None:
    """Run the stages of help; whether each is proven, None if one found nothing. A prize weighs the last with cost."""
    is_proven = True
    for position, weights in enumerate(stages):
        goal = cp_model.LinearExpr.weighted_sum([helped[number] for number in weights], list(weights.values()))
        kept = None
        if evictions_per_pod is not None and position == len(stages) - 1:
            kept, most = cp_model.LinearExpr.sum([helped[number] for number in weights]), wanted + 1
            goal = cp_model.LinearExpr.weighted_sum([kept, cost], [evictions_per_pod * most + 1, -most])
        stage = solver.run(goal, maximize=True, deadline=deadline.part(0.5), deterministic_seconds=0.4, kept=kept)
        is_proven &= stage.is_proven
        if solver.solution is None:
            return None
    return is_proven


def _greedily(columns: Sequence[Column], wanted: Sequence[int], conditions: Conditions) -> list[int]:
    """A choice to begin with: the cheapest columns for each pod that they help, while they are of use."""
    left, used, chosen = list(wanted), set[int](), [0] * len(columns)
    spent = [0] * len(conditions.at_most)
    order = sorted(range(len(columns)), key=lambda n: (columns[n].cost / max(1, sum(columns[n].counts)), n))
    for number in order:
        column = columns[number]
        is_fitting = column.counts and all(map(int.__le__, column.counts, left)) and column.node not in used
        after = [total + bar.use[number] for total, bar in zip(spent, conditions.at_most, strict=True)]
        if is_fitting and all(total <= bar.limit for total, bar in zip(after, conditions.at_most, strict=True)):
            chosen[number], spent = 1, after
            used.add(column.node)
            left = [have - count for have, count in zip(left, column.counts, strict=True)]
    return chosen


def _one_column_per_node(model: cp_model.CpModel, columns: Sequence[Column], use: Sequence[cp_model.IntVar]) -> None:
    """At most one column that hosts pods, and one that only gains, for each node."""
    by_node: dict[tuple[int, bool], list[cp_model.IntVar]] = defaultdict(list)
    for column, variable in zip(columns, use, strict=True):
        by_node[column.node, bool(column.counts)].append(variable)
    for variables in by_node.values():
        if len(variables) > 1:
            model.add_at_most_one(variables)


def _helped(
    model: cp_model.CpModel, columns: Sequence[Column], use: Sequence[cp_model.IntVar], wanted: Sequence[int]
) -> list[cp_model.IntVar]:
    """Helped pods of each class: no more than wait, and than the chosen columns take."""
    helped = []
    for number, count in enumerate(wanted):
        hosts = [(c.counts[number], v) for c, v in zip(columns, use, strict=True) if c.counts and c.counts[number]]
        offered = cp_model.LinearExpr.weighted_sum([v for _, v in hosts], [n for n, _ in hosts]) if hosts else 0
        total = model.new_int_var(0, count, "")
        model.add(total <= offered)
        helped.append(total)
    if any(column.total for column in columns):
        totals = [column.total or sum(column.counts) for column in columns]
        model.add(sum(helped) <= cp_model.LinearExpr.weighted_sum(use, totals))
    return helped


def _impose(
    model: cp_model.CpModel,
    use: Sequence[cp_model.IntVar],
    helped: list[cp_model.IntVar],
    wanted: Sequence[int],
    conditions: Conditions,
) -> None:
    for group in conditions.together:
        is_helped = model.new_bool_var("")
        for number in group:
            model.add(helped[number] == wanted[number] * is_helped)
    for classes, number in conditions.at_least:
        model.add(sum(helped[item] for item in classes) >= number)
    for uses, limit in conditions.at_most:
        model.add(cp_model.LinearExpr.weighted_sum(use, uses) <= limit)
    if conditions.most_helped is not None:
        model.add(sum(helped) <= conditions.most_helped)
