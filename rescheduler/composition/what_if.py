"""Answers "could this node go?" and "would one more of these help?" by plans for a cluster that is not so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import UNSET, UnsetType
from msgspec.structs import replace as with_changes

from rescheduler.costs.machines import machine_of
from rescheduler.costs.node_prices import node_prices
from rescheduler.costs.plan_cost import plan_cost
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.explain import find_node
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.imagined import TO_GO, with_nodes, with_nodes_to_go
from rescheduler.model.plan.leaving_taint import without_leaving_taints
from rescheduler.model.plan.plan import EMPTY_NODES, ObjectiveResult, Plan, Refusal, Status, reference_to
from rescheduler.model.plan.what_if import AddedNode, NodeShape, Reached, WhatIf
from rescheduler.model.printable import first_few
from rescheduler.policy.fields.policy import Objective, Policy
from rescheduler.report.plan.flows import emptied_nodes
from rescheduler.report.what_if import help_told, removal_told
from rescheduler.scheduling.prediction.verdict import reason_counts
from rescheduler.scheduling.scheduler_model import SchedulerModel

MOST_NAMED = 5
NO_ROOM = "NoRoom"
OWN_SHARE, WITHOUT_ADDED_SHARE, WITHOUT_MOVES_SHARE = 0.6, 0.3, 0.1
"""Of the planning time, where the answer is compared with others."""


@dataclass(frozen=True)
class NodeChange:
    """What is not so. ``removed``: names of nodes; ``keeps_objectives``: the policy's own are asked for."""

    removed: tuple[str, ...] = ()
    added: tuple[NodeShape, ...] = ()
    keeps_objectives: bool = False


def plan_what_if(cluster: Cluster, policy: Policy, change: NodeChange, options: CycleOptions) -> tuple[Plan, Cluster]:
    """The answer, and the cluster that it is about. Raises NotInClusterError for a node that there is not, and
    ReschedulerError for a type of which the table of prices does not say enough.

    Removed nodes are to be emptied and receive nothing; without any, pending pods are to be helped, unless the
    policy's objectives are asked for. Nothing is written.
    """
    asking = AskingWhatIf(policy, change, options)
    names = (*change.removed, *(shape.like for shape in change.added if shape.like))
    for name in names:
        find_node(cluster, name)
    imagined = with_nodes(cluster, [_with_machine(shape, cluster, policy) for shape in change.added])
    imagined = imagined._replace(cluster=with_nodes_to_go(imagined.cluster, change.removed))
    is_compared = bool(change.added) and not change.keeps_objectives
    answer = asking.plan(imagined.cluster, OWN_SHARE if is_compared else 1.0)
    question = WhatIf(removed_nodes=change.removed, added_nodes=imagined.added)
    if is_compared:
        without = asking.plan(with_nodes_to_go(cluster, change.removed), WITHOUT_ADDED_SHARE)
        question = with_changes(question, without_added=asking.reached(without, cluster))
        if not change.removed:
            alone = asking.plan(imagined.cluster, WITHOUT_MOVES_SHARE, max_evictions=0)
            question = with_changes(question, without_moves=asking.reached(alone, imagined.cluster))
    answer = with_changes(answer, what_if=question, warnings=(*answer.warnings, *said_of(imagined.added)))
    prices = node_prices(policy, imagined.cluster)
    if prices is not None and imagined.added:
        bought = [node.name for node in imagined.added]
        answer = with_changes(answer, cost=plan_cost(answer, imagined.cluster, prices, bought))
    if change.removed:
        return asking.told_of_removal(answer, imagined.cluster), imagined.cluster
    return (_told_of_help(answer) if is_compared else answer), imagined.cluster


def _with_machine(shape: NodeShape, cluster: Cluster, policy: Policy) -> NodeShape:
    """The shape with what the table of prices says of its type, where it names one. Raises ReschedulerError."""
    return with_changes(shape, machine=machine_of(shape.place, cluster, policy)) if shape.place else shape


@dataclass(frozen=True)
class AskingWhatIf:
    """One question, asked of several clusters."""

    policy: Policy
    change: NodeChange
    options: CycleOptions

    def plan(self, cluster: Cluster, share: float, max_evictions: int | None = None) -> Plan:
        """A plan within a share of the planning time."""
        limits = {"deadline": self.policy.limits.deadline * share}
        if max_evictions is not None:
            limits["max_evictions"] = max_evictions
        policy = self.policy.model_copy(
            update={"objectives": self._objectives(), "limits": self.policy.limits.model_copy(update=limits)}
        )
        return make_plan(cluster, policy, self.options)

    def _objectives(self) -> tuple[Objective, ...]:
        if self.change.removed:
            return (Objective(name=EMPTY_NODES, args={"nodeSelector": {"matchLabels": {TO_GO: "true"}}}),)
        if self.change.keeps_objectives:
            return self.policy.objectives
        own = tuple(item for item in self.policy.objectives if item.name == "MakeRoom")
        return own[:1] or (Objective(name="MakeRoom"),)

    def reached(self, answer: Plan, cluster: Cluster) -> Reached:
        """What another answer comes to."""
        emptied: int | UnsetType = UNSET
        if self.change.removed:
            emptied = len(set(emptied_nodes(answer, cluster)).intersection(self.change.removed))
        return Reached(len(answer.moves), answer.objectives[0].helped, emptied)

    def told_of_removal(self, answer: Plan, cluster: Cluster) -> Plan:
        """Say of each node whether it could go, and of its pods why they cannot leave it."""
        emptied = set(emptied_nodes(answer, cluster))
        busy = [name for name in self.change.removed if name not in emptied and pods_to_move(cluster, name)]
        refusals = self._why_they_stay(cluster, busy) if busy else ()
        objective = answer.objectives[0]
        status = Status.INFEASIBLE if busy and objective.status is Status.OPTIMAL else objective.status
        message = removal_told(answer, cluster, busy, refusals, is_proven=status is not Status.FEASIBLE)
        changed: ObjectiveResult = with_changes(objective, status=status, message=message)
        known = tuple(item for item in answer.refusals if item.pod is UNSET)
        return with_changes(answer, objectives=(changed,), refusals=(*known, *refusals))

    def prediction(self, cluster: Cluster) -> tuple[Eligibility, SchedulerModel]:
        """Who may move in a cluster, and where the scheduler lets pods be."""
        asked, schedulers = self.options, self.options.schedulers
        cluster = schedulers.configured(without_leaving_taints(cluster))
        eligibility = decide_eligibility(
            cluster, self.policy, asked.selection, schedulers.names, ledger=asked.ledger, stop=asked.stop
        )
        return eligibility, schedulers.model(cluster, is_for_planning=True)

    def _why_they_stay(self, cluster: Cluster, nodes: Sequence[str]) -> tuple[Refusal, ...]:
        """For each pod of these nodes that may not be moved, or fits on no other node by itself, the reason."""
        eligibility, model = self.prediction(cluster)
        placement, columns, cluster = Placement(model.columns), model.columns, model.columns.cluster
        stays = np.array([node.name not in self.change.removed for node in cluster.nodes], dtype=np.bool_)
        found: list[Refusal] = []
        for name in nodes:
            for pod in pods_to_move(cluster, name):
                index = columns.pod_index[pod.key]
                known = eligibility.refusals.get(index)
                if known is not None:
                    found.append(known)
                elif not (model.feasible(index, placement) & stays).any():
                    told = ", ".join(f"{n} {why}" for why, n in reason_counts(model.refusals(index, placement)).items())
                    reference = reference_to(pod)
                    found.append(Refusal(NO_ROOM, f"{pod.key} fits on no other node: {told}", reference))
        return tuple(found)


def pods_to_move(cluster: Cluster, node: str) -> list[Pod]:
    """Pods that keep a node in use."""
    return [pod for pod in cluster.pods_by_node.get(node, ()) if not pod.belongs_to_its_node and not pod.is_terminating]


def said_of(added: Sequence[AddedNode], so_far: str = "which cannot be carried out") -> tuple[str, ...]:
    """That nobody takes a thought for a thing. ``so_far``: what follows from it."""
    names = first_few([node.name for node in added], MOST_NAMED)
    exist = "exists" if len(added) == 1 else "exist"
    return (f"{names} {exist} in this plan only, {so_far}",) if added else ()


def _told_of_help(answer: Plan) -> Plan:
    objective = answer.objectives[0]
    changed = with_changes(objective, message=f"{help_told(answer)}; {objective.message}")
    return with_changes(answer, objectives=(changed, *answer.objectives[1:]))
