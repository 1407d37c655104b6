"""Answers "which cheaper machines could replace these nodes?": chosen by the table of prices, then planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Final

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace as with_changes

from rescheduler.composition.what_if import AskingWhatIf, NodeChange, pods_to_move, said_of
from rescheduler.costs.machines import MachineOffers, machines_like, unjudged_told
from rescheduler.costs.node_prices import NodePrices, node_prices
from rescheduler.costs.plan_cost import plan_cost
from rescheduler.cycle import CycleOptions
from rescheduler.execution.buying.orders import fillers_of, orders_of, told
from rescheduler.explain import find_node
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.machine import Machine
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import is_leaving
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import exact_amount
from rescheduler.model.plan.imagined import with_nodes, with_nodes_to_go
from rescheduler.model.plan.plan import EMPTY_NODES, Plan, Refusal, Status
from rescheduler.model.plan.what_if import NodeReplacement, NodeShape, WhatIf
from rescheduler.model.prices import place_of
from rescheduler.model.printable import printable
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.replacement.choosing import ReplacementChoice, cheapest_machines
from rescheduler.planning.replacement.replacement_problem import ReplacementProblem, replacement_problem
from rescheduler.policy.fields.policy import Policy
from rescheduler.report.plan.flows import emptied_nodes
from rescheduler.report.what_if import ReplacementTold, must_stay_told

MOST_MACHINES: Final = 200
CHOOSING_SHARE: Final = 0.3
PLANNING_SHARES: Final = (0.4, 0.2, 0.1)
"""Of the planning time: for a plan with the first choice, and for what is tried where that cannot be planned."""
CENT: Final = 0.01
NOT_YET: Final = "until apply --buy has it made"


@dataclass(frozen=True)
class NodesToReplace:
    """``names``: nodes, all or nothing; ``pools``: NodePools, whose nodes are replaced where their pods may move."""

    names: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()


def plan_replacement(
    cluster: Cluster, policy: Policy, wanted: NodesToReplace, options: CycleOptions
) -> tuple[Plan, Cluster]:
    """The answer, and the cluster that it is about, with the machines; without moves where nothing is cheaper.

    Raises NotInClusterError for a node that there is not, ReschedulerError for one without a price, a pool without
    nodes, and more machines in question than are looked at. Nothing is written.
    """
    names = _names(cluster, wanted)
    asking = AskingWhatIf(policy, NodeChange(names), options)
    refused = _whose_pods_must_stay(asking, cluster, names)
    barred = {name: refused[name] for name in wanted.names if name in refused}
    names = tuple(name for name in names if name in wanted.names or name not in refused)
    left = [
        f"{name} is not replaced: {must_stay_told(pods_to_move(cluster, name), found)}"
        for name, found in refused.items()
        if name not in wanted.names
    ]
    if not names:
        raise ReschedulerError(f"--replace-pool: each node has pods that may not be moved: {'; '.join(left)}")
    asking = AskingWhatIf(policy, NodeChange(names), options)
    prices = node_prices(policy, cluster)
    unpriced = [name for name in names if prices is None or name not in prices.a_month]
    if prices is None or unpriced:
        raise ReschedulerError(f"node {unpriced[0]} has no price (policy: prices), so nothing is known to be cheaper")
    replacing = _Replacing(asking, cluster, names, frozenset(names) - frozenset(wanted.names), prices)
    if barred:
        return replacing.impossible(barred), cluster
    answer, imagined = replacing.answer()
    return with_changes(answer, warnings=(*answer.warnings, *left)), imagined


def _names(cluster: Cluster, wanted: NodesToReplace) -> tuple[str, ...]:
    for name in wanted.names:
        find_node(cluster, name)
    found = dict.fromkeys(wanted.names)
    for pool in wanted.pools:
        of_pool = [node.name for node in cluster.nodes if place_of(node.labels)[3] == pool and not is_leaving(node)]
        if not of_pool:
            raise ReschedulerError(f"--replace-pool {printable(pool, 60)}: no node that stays is of this NodePool")
        found |= dict.fromkeys(of_pool)
    return tuple(found)


def _whose_pods_must_stay(asking: AskingWhatIf, cluster: Cluster, names: Sequence[str]) -> dict[str, list[Refusal]]:
    """Nodes with pods that may not be moved, and what refuses it."""
    eligibility, model = asking.prediction(cluster)
    index = model.columns.pod_index
    found = {}
    for name in names:
        barred = [eligibility.refusals.get(index[pod.key]) for pod in pods_to_move(cluster, name)]
        refusals = [refusal for refusal in barred if refusal is not None]
        if refusals:
            found[name] = refusals
    return found


@dataclass(frozen=True)
class _Replacing:
    """One question. ``names``: nodes that are to go; ``prices``: of the cluster as it is.

    ``may_stay``: those of them that nobody has named, so that they may be among the machines that are chosen.
    """

    asking: AskingWhatIf
    cluster: Cluster
    names: tuple[str, ...]
    may_stay: frozenset[str]
    prices: NodePrices

    def answer(self) -> tuple[Plan, Cluster]:
        """A plan with machines; where there is none that is cheaper, one without moves that says so."""
        self.asking.options.progress("choosing machines")
        offers = self._offers()
        least: float | None = None
        why = ""
        for choice, share in zip(self._choices(offers.machines), PLANNING_SHARES, strict=True):
            least = choice.bound if least is None else least
            if not choice.numbers or self._old_cost() - choice.cost < CENT:
                break
            machines = list(_each(offers.machines, choice))
            kept, others = self._kept(machines)
            all_new: tuple[frozenset[str], list[Machine]] = frozenset(), machines
            tries = [(kept, others), all_new] if kept else [all_new]
            for staying, new in tries:
                paid = fsum(self.prices.a_month[name] for name in staying)
                question = self._without(staying)
                found = question._carried(new, choice.cost - paid, max(0.0, least - paid), share / len(tries))
                if not isinstance(found, str):
                    plan, imagined = found
                    told = (*plan.warnings, *self._stay_told(staying), *unjudged_told(offers))
                    return with_changes(plan, warnings=told), imagined
                why = found
        return self._not_found(least or 0.0, why, offers), self.cluster

    def _kept(self, machines: Sequence[Machine]) -> tuple[frozenset[str], list[Machine]]:
        """Nodes that are such machines already, those with the most pods first, and the machines that are left."""
        kept: set[str] = set()
        new: list[Machine] = []
        for machine in machines:
            alike = [name for name in self.may_stay - kept if self._is(name, machine)]
            node = max(sorted(alike), key=lambda name: len(pods_to_move(self.cluster, name)), default=None)
            if node is None:
                new.append(machine)
            else:
                kept.add(node)
        return frozenset(kept), new

    def _is(self, name: str, machine: Machine) -> bool:
        """Whether a node is of that type, open to pods, offers as much, and costs the same."""
        node = self.cluster.node_by_name[name]
        offered = dict(node.allocatable)
        return (
            node.is_open
            and place_of(node.labels) == machine.place
            and abs(self.prices.a_month[name] - machine.price) < CENT
            and all(offered.get(resource, 0) >= amount for resource, amount in machine.resources)
        )

    def _without(self, kept: frozenset[str]) -> _Replacing:
        """The question for the other nodes."""
        names = tuple(name for name in self.names if name not in kept)
        return replace(self, names=names, asking=replace(self.asking, change=NodeChange(names)))

    def _stay_told(self, kept: frozenset[str]) -> list[str]:
        return [
            f"{name} is not replaced: one of its type is among the cheapest, and it is there already"
            for name in self.names
            if name in kept
        ]

    def _carried(
        self, machines: Sequence[Machine], cost: float, least: float, share: float
    ) -> str | tuple[Plan, Cluster]:
        """The plan with these machines, which cost so much, and its cluster; or why there is none."""
        plan, imagined = self._planned(machines, share)
        emptied = set(emptied_nodes(plan, imagined))
        if not all(name in emptied or not pods_to_move(self.cluster, name) for name in self.names):
            return plan.objectives[0].message
        if not self._is_worth_its_moves(cost, len(plan.moves)):
            return self._worthless()
        return self._found(plan, imagined, machines, cost, least)

    def impossible(self, barred: Mapping[str, Sequence[Refusal]]) -> Plan:
        """A plan that leaves all as it is, since pods of these nodes may not be moved."""
        told = "; ".join(
            f"{name} could not go: {must_stay_told(pods_to_move(self.cluster, name), refusals)}"
            for name, refusals in barred.items()
        )
        plan = self._unchanged(self._figures(None, self._old_cost()), Status.INFEASIBLE, told)
        return with_changes(plan, refusals=tuple(refusal for refusals in barred.values() for refusal in refusals))

    def _old_cost(self) -> float:
        return fsum(self.prices.a_month[name] for name in self.names)

    def _figures(self, new: float | None, least: float) -> NodeReplacement:
        old = {name: round(self.prices.a_month[name], 2) for name in self.names}
        new = None if new is None else round(new, 2)
        return NodeReplacement(round(self._old_cost(), 2), new, round(least, 2), old)

    def _offers(self) -> MachineOffers:
        """Raises ReschedulerError where there are too many."""
        nodes = [self.cluster.node_by_name[name] for name in self.names]
        keys = {key for name in self.names for pod in pods_to_move(self.cluster, name) for key in _labels_asked(pod)}
        offers = machines_like(nodes, self.cluster, self.asking.policy, keys=keys, below=self._old_cost())
        if len(offers.machines) > MOST_MACHINES:
            raise ReschedulerError(
                f"{len(offers.machines)} machines of the table of prices come into question, and at most "
                f"{MOST_MACHINES} are compared; leave types out of the table, or replace nodes of one zone at a time"
            )
        return offers

    def _choices(self, machines: Sequence[Machine]) -> Iterator[ReplacementChoice]:
        """First with all the room that there may be, then with what no rule speaks against now, then with none."""
        imagined = with_nodes(self.cluster, [NodeShape(machine=machine) for machine in machines])
        eligibility, model = self.asking.prediction(with_nodes_to_go(imagined.cluster, self.names))
        columns = model.columns
        pods = [columns.pod_index[pod.key] for name in self.names for pod in pods_to_move(self.cluster, name)]
        apart = {*self.names, *(node.name for node in imagined.added)}
        stay = [row for row, node in enumerate(columns.cluster.nodes) if node.name not in apart]
        types = sorted({str(machine.place[0]) for machine in machines})

        def problem(*, as_it_stands: bool) -> ReplacementProblem:
            return replacement_problem(
                model,
                eligibility,
                pods,
                [columns.node_index[node.name] for node in imagined.added],
                stay,
                np.array([machine.price for machine in machines], dtype=np.float64),
                np.array([types.index(str(machine.place[0])) for machine in machines], dtype=np.int64),
                as_it_stands=as_it_stands,
            )

        def cheapest(given: ReplacementProblem, part: float) -> ReplacementChoice:
            seconds = self.asking.policy.limits.deadline * CHOOSING_SHARE * part
            options = self.asking.options
            return cheapest_machines(given, options.seed, Deadline(options.clock, seconds))

        yield cheapest(problem(as_it_stands=False), 1.0)
        now = problem(as_it_stands=True)
        yield cheapest(now, 0.5)
        yield cheapest(now.without_nodes(), 0.25)

    def _planned(self, machines: Sequence[Machine], share: float) -> tuple[Plan, Cluster]:
        """What comes of it with these machines, told of each node."""
        imagined = with_nodes(self.cluster, [NodeShape(machine=machine) for machine in machines])
        world = with_nodes_to_go(imagined.cluster, self.names)
        plan = self.asking.plan(world, share)
        question = WhatIf(removed_nodes=self.names, added_nodes=imagined.added)
        plan = with_changes(plan, what_if=question, warnings=(*plan.warnings, *said_of(imagined.added, NOT_YET)))
        return self.asking.told_of_removal(plan, world), world

    def _move_cost(self) -> float:
        objectives = self.asking.policy.objectives
        own = next((objective.move_cost for objective in objectives if objective.name == EMPTY_NODES), 0.0)
        return own * (1 + self.asking.policy.limits.margin)

    def _is_worth_its_moves(self, cost: float, moves: int) -> bool:
        return self._old_cost() - cost > self._move_cost() * moves

    def _worthless(self) -> str:
        return f"what would be saved is worth less than the moves ({self._move_cost():g} each, by moveCost and margin)"

    def _told(self, machines: Sequence[Machine], figures: NodeReplacement, *, is_proven: bool) -> ReplacementTold:
        pods = sum(len(pods_to_move(self.cluster, name)) for name in self.names)
        named = [machine.told for machine in machines]
        return ReplacementTold(self.names, pods, named, self.prices.currency, figures, is_proven)

    def _found(
        self,
        plan: Plan,
        world: Cluster,
        machines: Sequence[Machine],
        price: float,
        least: float,
    ) -> tuple[Plan, Cluster]:
        is_proven = price - least < CENT
        least = price if is_proven else least
        figures = self._figures(price, least)
        told = self._told(machines, figures, is_proven=is_proven).found()
        plan = self._with_figures(plan, figures, Status.OPTIMAL if is_proven else Status.FEASIBLE, told)
        prices = node_prices(self.asking.policy, world)
        assert prices is not None  # the nodes to go have one
        assert isinstance(plan.what_if, WhatIf)
        bought = [node.name for node in plan.what_if.added_nodes]
        cost = plan_cost(plan, world, prices, bought)
        return with_changes(plan, cost=cost), world

    def _not_found(self, least: float, why: str, offers: MachineOffers) -> Plan:
        """A plan that leaves all as it is."""
        least = min(least, self._old_cost())
        figures = self._figures(None, least)
        is_proven = self._old_cost() - least < CENT
        told = self._told((), figures, is_proven=is_proven).not_found(why)
        plan = self._unchanged(figures, Status.OPTIMAL if is_proven else Status.FEASIBLE, told)
        return with_changes(plan, warnings=(*plan.warnings, *unjudged_told(offers)))

    def _unchanged(self, figures: NodeReplacement, status: Status, message: str) -> Plan:
        """A plan without moves."""
        plan = self.asking.plan(with_nodes_to_go(self.cluster, self.names), PLANNING_SHARES[-1], max_evictions=0)
        plan = with_changes(plan, what_if=WhatIf(removed_nodes=self.names), moves=(), waves=UNSET)
        plan = self._with_figures(plan, figures, status, message)
        return with_changes(plan, cost=plan_cost(plan, self.cluster, self.prices))

    def _with_figures(self, plan: Plan, figures: NodeReplacement, status: Status, message: str) -> Plan:
        """Value and bound are what is saved; what the plan itself says of nodes that go is put behind."""
        [objective] = plan.objectives
        new = figures.old_cost if figures.new_cost is None else figures.new_cost
        value, bound = round(figures.old_cost - new, 2), round(figures.old_cost - figures.least_cost, 2)
        objective = with_changes(
            objective,
            status=status,
            value=value,
            bound=bound,
            gap=abs(value - bound) / max(1.0, abs(bound)),
            unit=self.prices.unit,
            message=message,
        )
        assert isinstance(plan.what_if, WhatIf)
        question = with_changes(plan.what_if, replacement=figures)
        return with_changes(plan, objectives=(objective,), what_if=question)


def told_what_is_asked(plan: Plan, cluster: Cluster, policy: Policy) -> Plan:
    """The plan with what ``apply --buy`` would ask for. ``cluster``: as it is."""
    lines: list[str] = []
    orders = orders_of(plan, cluster)
    for order in orders:
        amounts = ", ".join(f"{name}={exact_amount(name, amount)}" for name, amount in order.placeholder.requests)
        labels = ", ".join(f"{key}={value}" for key, value in order.placeholder.node_selector)
        lines.append(
            f"apply --buy asks for {told(order.machine)} by a placeholder in namespace {policy.hold.namespace} with "
            f"{amounts} on a node with {labels}"
        )
    lines += [
        f"apply --buy fills node {node} with a placeholder while it waits: it is of a type that is asked for, and so "
        "empty that nobody would make another"
        for node in fillers_of(orders, cluster)
    ]
    return with_changes(plan, warnings=(*plan.warnings, *lines))


def _each(machines: Sequence[Machine], choice: ReplacementChoice) -> Iterator[Machine]:
    for machine, number in zip(machines, choice.numbers, strict=True):
        yield from [machine] * number


def _labels_asked(pod: Pod) -> Iterator[str]:
    """Labels of nodes that decide where a pod may be."""
    spec = pod.spec
    yield from (key for key, _ in spec.node_selector)
    required = None if spec.node_affinity is None else spec.node_affinity.required
    for term in required or ():
        yield from (requirement.key for requirement in term.expressions)
    yield from (term.topology_key for term in (*spec.affinity, *spec.anti_affinity))
    yield from (constraint.topology_key for constraint in spec.topology_spread)
