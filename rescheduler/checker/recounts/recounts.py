"""For each objective of a policy, a second count of what a plan reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from rescheduler.checker.recounts.antagonists import pairs_left
from rescheduler.checker.recounts.emptied_nodes import price_emptied, too_many_emptied
from rescheduler.checker.recounts.fault_domains import violations_left
from rescheduler.checker.recounts.fitting_shapes import shapes_that_fit
from rescheduler.checker.recounts.overload import overload_left
from rescheduler.costs.node_prices import NodePrices
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.objective_arguments import arguments_of


class Recount(NamedTuple):
    """``reached``: what a plan reaches, in the unit of the objective's value (None: moves are taken off that).

    ``broken``: what the objective's own arguments forbid of a plan.
    """

    is_better_higher: bool
    reached: Callable[[Plan], float] | None
    broken: Callable[[Plan], Iterable[str]] = lambda _: ()


def recounts_of(
    policy: Policy, cluster: Cluster, observed: ObservedUse | None, prices: NodePrices | None = None
) -> Mapping[str, Recount]:
    """By the objective's name. ``observed``: for SpreadLoad; ``prices``: for EmptyNodes."""
    found: dict[str, Recount] = {}
    for objective in policy.objectives:
        args: Any = arguments_of(objective)
        if objective.name == "EmptyNodes":
            reached = None if objective.move_cost else partial(price_emptied, cluster, args=args, known=prices)
            found[objective.name] = Recount(True, reached, partial(too_many_emptied, cluster, args=args))
        elif objective.name == "SpreadLoad" and observed is not None:
            found[objective.name] = Recount(
                False, partial(overload_left, cluster, observed=observed, target=args.shares)
            )
        elif objective.name == "SeparateAntagonists":
            found[objective.name] = Recount(False, partial(pairs_left, cluster, args=args, now=cluster.taken_at))
        elif objective.name == "FaultDomains":
            found[objective.name] = Recount(False, partial(violations_left, cluster))
        elif objective.name == "Defragment":
            shapes = [(shape.requests, shape.weight) for shape in args.shapes]
            found[objective.name] = Recount(True, partial(shapes_that_fit, cluster, shapes=shapes))
    return found
