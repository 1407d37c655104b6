"""Finished pods that plugins evict: they go by themselves, have no destination, and count in the limits alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import structs

from rescheduler.descheduler.cycle import Chosen
from rescheduler.descheduler.foretelling import LandedWalk
from rescheduler.descheduler.own_rules import OwnRules, PluginOfProfile, what_binds_finished
from rescheduler.model.plan.disruption import LIMIT_NAMES
from rescheduler.model.plan.plan import Landing, Move, Plan, Refusal, marked_waves, reference_to
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import Schedulers

_TOTAL, _PER_NODE, _PER_NAMESPACE = LIMIT_NAMES


class FinishedVictims(NamedTuple):
    """Those of a walk, in its order. ``going``: within our own rules; ``staying``: with what keeps them."""

    going: tuple[Chosen, ...]
    staying: tuple[tuple[Chosen, Refusal], ...]
    policy: Policy

    @property
    def policy_for_moves(self) -> Policy:
        """The policy with what the evictions of finished pods leave of its limit."""
        limits = self.policy.limits
        left = limits.model_copy(update={"max_evictions": max(0, limits.max_evictions - len(self.going))})
        return self.policy.model_copy(update={"limits": left}) if self.going else self.policy

    def beside(self, plan: Plan) -> Plan:
        """The plan with a first wave of those that node and namespace still allow, and refusals of the others."""
        limits = self.policy.limits
        on_node = Counter(move.from_node for move in plan.moves)
        in_namespace = Counter(move.pod.namespace for move in plan.moves)
        moves: list[Move] = []
        refusals = [refusal for _, refusal in self.staying]
        for chosen in self.going:
            node, namespace = chosen.pod.node_name or "", chosen.pod.namespace
            if _is_reached(limits.max_evictions_per_node, on_node[node]):
                refusals.append(_over(chosen, f"{_PER_NODE}: {on_node[node]} are reached"))
            elif _is_reached(limits.max_evictions_per_namespace, in_namespace[namespace]):
                refusals.append(_over(chosen, f"{_PER_NAMESPACE}: {in_namespace[namespace]} are reached"))
            else:
                on_node[node] += 1
                in_namespace[namespace] += 1
                moves.append(_departure(chosen))
        if moves:
            moves += [structs.replace(move, wave=move.wave + 1) for move in plan.moves]
            waits = tuple(structs.replace(item, wave=item.wave and item.wave + 1) for item in plan.placements)
            plan = structs.replace(plan, moves=tuple(moves), placements=waits, waves=marked_waves(moves))
        return structs.replace(plan, refusals=(*plan.refusals, *refusals))

    def left_by(self, plan: Plan) -> Mapping[PluginOfProfile, int]:
        """How many victims of each plugin such a plan leaves where they are."""
        gone = {move.pod.key for move in plan.moves if move.destination is None}
        every = (*self.going, *(chosen for chosen, _ in self.staying))
        return Counter((chosen.profile, chosen.plugin) for chosen in every if chosen.pod.key not in gone)


def finished_victims(walk: LandedWalk, own: OwnRules, schedulers: Schedulers) -> FinishedVictims:
    """Finished pods that descheduler would evict, as our own rules let them go."""
    context = own.context(walk.cluster, schedulers.names)
    going: list[Chosen] = []
    staying: list[tuple[Chosen, Refusal]] = []
    most = own.policy.limits.max_evictions
    for chosen in walk.cycle.chosen:
        if not chosen.pod.is_finished or chosen.refusal is not None:
            continue
        found = what_binds_finished(context, chosen.pod)
        if found is None and _is_reached(most, len(going)):
            found = _over(chosen, f"{_TOTAL}: {most} are reached")
        if found is None:
            going.append(chosen)
        else:
            staying.append((chosen, found))
    return FinishedVictims(tuple(going), tuple(staying), own.policy)


def _departure(chosen: Chosen) -> Move:
    node = chosen.pod.node_name or ""
    return Move(
        pod=reference_to(chosen.pod),
        from_node=node,
        to_node=node,
        wave=1,
        objective=chosen.plugin,
        reason=f"{chosen.reason}; it has finished, and nobody makes it again",
        landing=Landing.NO_REPLACEMENT,
    )


def _over(chosen: Chosen, text: str) -> Refusal:
    return Refusal("CycleLimits", f"{chosen.pod.key}: {text}", pod=reference_to(chosen.pod))


def _is_reached(limit: int | None, count: int) -> bool:
    return limit is not None and count >= limit
