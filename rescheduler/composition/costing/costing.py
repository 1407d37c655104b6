"""Puts together what a cluster costs and what each rule costs, by planning with it and without it."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from rescheduler.composition.costing.lifts import Lift, World, lifts_of
from rescheduler.costs.fleet import Fleet, fleet_of
from rescheduler.costs.node_prices import node_prices
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.costs import Costs, RuleCost
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.leaving_taint import without_leaving_taints
from rescheduler.model.plan.plan import EMPTY_NODES, Plan
from rescheduler.policy.fields.policy import Objective, Policy

MOST_RULES: Final = 10
FIRST_SHARE: Final = 0.3
"""Of the time, for the plan with all rules; the others share the rest."""


def costs_of(cluster: Cluster, policy: Policy, options: CycleOptions) -> Costs:
    """Within the policy's deadline. Raises ReschedulerError where no node has a price."""
    prices = node_prices(policy, cluster)
    if prices is None:
        raise ReschedulerError("no node has a price (policy: prices), so nothing can be said of costs")
    deadline = policy.limits.deadline

    def planned(world: World, share: float) -> Plan:
        return make_plan(world[0], _for_money(world[1], deadline * share), options)

    first = planned((cluster, policy), FIRST_SHARE)
    schedulers = options.schedulers
    seen, asked = schedulers.configured(without_leaving_taints(cluster)), _for_money(policy, deadline)
    eligibility = decide_eligibility(
        seen, asked, options.selection, schedulers.names, ledger=options.ledger, stop=options.stop
    )
    lifts = lifts_of(cluster, policy, eligibility, prices, first)[:MOST_RULES]
    share = (1 - FIRST_SHARE) / max(1, len(lifts))
    rules = [_rule_cost(lift, first, planned(lift.without(), share)) for lift in lifts]
    return _costs(first, fleet_of(cluster, prices), rules)


def _costs(first: Plan, fleet: Fleet, rules: list[RuleCost]) -> Costs:
    rules.sort(key=lambda rule: (-rule.saving, -rule.at_most, rule.rule, rule.object))
    return Costs(
        cost=_cost(first),
        idle=fleet.idle,
        by_pool=fleet.by_pool,
        by_namespace=fleet.by_namespace,
        by_owner=fleet.by_owner,
        rules=tuple(rule for rule in rules if rule.at_most > 0),
        warnings=first.warnings,
    )


def _for_money(policy: Policy, deadline: float) -> Policy:
    """The policy with EmptyNodes alone, for money and at any number of evictions that its limits let be."""
    own = next((one for one in policy.objectives if one.name == EMPTY_NODES), Objective(name=EMPTY_NODES))
    args = {name: value for name, value in own.args.items() if name != "price"}
    objective = Objective(name=EMPTY_NODES, args=args)
    limits = policy.limits.model_copy(update={"deadline": deadline})
    return policy.model_copy(update={"objectives": (objective,), "limits": limits})


def _rule_cost(lift: Lift, first: Plan, without: Plan) -> RuleCost:
    """A plan without the rule is never worse than one with it, which is a plan without it too."""
    saving = max(0.0, _cost(without).saving - _cost(first).saving)
    bound, value = without.objectives[0].bound, first.objectives[0].value or 0.0
    at_most = max(saving, _cost(without).before if bound is None else bound - value)
    return RuleCost(lift.rule, lift.object, lift.pods, lift.nodes, round(saving, 2), round(at_most, 2))


def _cost(found: Plan) -> Cost:
    assert found.cost is not UNSET
    assert isinstance(found.cost, Cost)
    return found.cost
