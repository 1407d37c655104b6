"""Who may move for a plugin: whom its DefaultEvictor and its own arguments let go, wherever they would fit."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from msgspec.structs import replace as with_changes

from rescheduler.descheduler.arguments import DeschedulerArguments, NamespaceChoice, PodArguments
from rescheduler.descheduler.cycle import Cycle, DeschedulerProfile, EnabledPlugin, PluginTurn, tools_of
from rescheduler.descheduler.plugins.duplicates import RemoveDuplicatesArguments
from rescheduler.descheduler.plugins.node_utilization import (
    HighNodeUtilizationArguments,
    LowNodeUtilizationArguments,
    is_of_interest,
)
from rescheduler.disruption.pod_kinds import counts_as_ready
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.model.plan.plan import Refusal, reference_to
from rescheduler.planning.problem.plan_request import PlanRequest


class PluginScope(NamedTuple):
    """``seen``: pods (indices) that the plugin looks at, evictable or not; ``movable``: those that it may move.

    ``per_node``: evictions from one node in one run (None: any number). ``victims``: those of descheduler's walk.
    ``unready``: of those that it may move the ones that our own rules keep, since they are not Ready.
    """

    turn: PluginTurn
    arguments: DeschedulerArguments
    seen: frozenset[int]
    movable: frozenset[int]
    per_node: int | None
    victims: frozenset[int]
    unready: frozenset[int]

    def narrowed(self, request: PlanRequest) -> PlanRequest:
        """The question where nobody else may move."""
        eligibility, pods = request.eligibility, self.turn.cycle.cluster.pods
        movable = self.movable - self.unready
        told = {pod: _kept(pods[pod]) for pod in self.seen - self.movable}
        told |= {pod: _unready(pods[pod]) for pod in self.unready}
        return replace(
            request,
            eligibility=with_changes(
                eligibility,
                movable=tuple(pod for pod in eligibility.movable if pod in movable),
                refusals={**eligibility.refusals, **told},
                limits=_within(eligibility.limits, self.per_node),
            ),
        )


def scope_of(
    cycle: Cycle,
    profile: DeschedulerProfile,
    plugin: EnabledPlugin,
    columns: Columns,
    victims: Collection[str],
    may_be_unready: Callable[[Pod], bool],
) -> PluginScope:
    """``cycle``: of which nothing was evicted; ``victims``: keys of those that the walk evicts for the plugin.

    ``may_be_unready``: whether a pod may go although it is not Ready.
    """
    evictor, fitting = tools_of(cycle, profile)
    turn = PluginTurn(cycle, plugin.name, profile.name, evictor, fitting)
    seen, movable, unready = set[int](), set[int](), set[int]()
    for node in turn.nodes:
        for pod in turn.pods_on(node):
            if not _is_looked_at(pod, plugin.arguments):
                continue
            index = columns.pod_index[pod.key]
            seen.add(index)
            if evictor.is_evictable(pod) and evictor.is_in_namespace(pod):
                movable.add(index)
                if not counts_as_ready(pod) and not may_be_unready(pod):
                    unready.add(index)
    return PluginScope(
        turn,
        plugin.arguments,
        frozenset(seen),
        frozenset(movable),
        _per_node(plugin.arguments),
        frozenset(columns.pod_index[key] for key in victims),
        frozenset(unready),
    )


def _kept(pod: Pod) -> Refusal:
    reference = reference_to(pod)
    return Refusal("DefaultEvictor", f"{pod.key} is let alone by the policy's DefaultEvictor", pod=reference)


def _unready(pod: Pod) -> Refusal:
    return Refusal("NotReady", f"{pod.key} is not Ready (policy: disruption.notReady)", pod=reference_to(pod))


def _is_looked_at(pod: Pod, arguments: DeschedulerArguments) -> bool:
    if not _namespaces(arguments).let_in(pod.namespace):
        return False
    if isinstance(arguments, PodArguments):
        return arguments.label_selector is None or selects(arguments.label_selector.read(), pod.labels)
    if isinstance(arguments, RemoveDuplicatesArguments):
        return not any(owner.kind in arguments.exclude_owner_kinds for owner in pod.owners)
    return not isinstance(arguments, HighNodeUtilizationArguments) or is_of_interest(pod, arguments)


def _namespaces(arguments: DeschedulerArguments) -> NamespaceChoice:
    if isinstance(arguments, PodArguments | RemoveDuplicatesArguments):
        return arguments.namespaces
    if isinstance(arguments, LowNodeUtilizationArguments | HighNodeUtilizationArguments):
        return arguments.evictable_namespaces or NamespaceChoice()
    return NamespaceChoice()


def _per_node(arguments: DeschedulerArguments) -> int | None:
    limits = arguments.eviction_limits if isinstance(arguments, LowNodeUtilizationArguments) else None
    return None if limits is None else limits.node


def _within(limits: MoveLimits, per_node: int | None) -> MoveLimits:
    if per_node is None or (limits.max_evictions_per_node or per_node) < per_node:
        return limits
    total, _, namespace = limits.names
    return with_changes(limits, max_evictions_per_node=per_node, names=(total, "evictionLimits.node", namespace))
