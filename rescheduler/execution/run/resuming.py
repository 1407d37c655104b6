"""What of a plan is left to do in the cluster as it is now: a plan carried out before has nothing left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import structs

from rescheduler.execution.eviction.evicting import is_leaving
from rescheduler.execution.landing.outcomes import Outcomes, landing
from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import MAKE_ROOM, Move, OutcomeKind, Plan, PlannedPlacement, marked_waves

GONE: Final = "the pod is gone by now"


class Remainder(NamedTuple):
    """What is left of a plan. ``leaving``: moves begun before, whose pods still run out their grace.

    ``homeless``: younger pods of the same owners as moves done before, which wait for a node.
    """

    moves: tuple[Move, ...]
    placements: tuple[PlannedPlacement, ...]
    leaving: tuple[Move, ...]
    homeless: tuple[Pod, ...]


def what_is_left(plan: Plan, cluster: Cluster, outcomes: Outcomes) -> Remainder:
    """Sort out what is done and tell its outcomes. Raises PlanOvertakenError where the plan applies no more.

    Pods are known by uid alone: a new pod of an old name is another pod.
    """
    _check_uids(plan)
    moves: list[Move] = []
    leaving: list[Move] = []
    gone: list[Move] = []
    for move in plan.moves:
        pod = _same(cluster, move.pod.key, move.pod.uid)
        if pod is None:
            gone.append(move)
        elif pod.is_terminating:
            leaving.append(move)
        else:
            moves.append(move)
    homeless = _tell_gone(gone, cluster, plan, outcomes)
    is_over = bool(gone or leaving) and not moves
    left, placements = still_needed(plan, moves, plan.placements, cluster, outcomes, is_over=is_over)
    return Remainder(left, placements, tuple(leaving), homeless)


def still_needed(
    plan: Plan,
    moves: Sequence[Move],
    placements: Sequence[PlannedPlacement],
    cluster: Cluster,
    outcomes: Outcomes,
    *,
    is_over: bool = False,
) -> tuple[tuple[Move, ...], tuple[PlannedPlacement, ...]]:
    """Placements whose pods still wait, and moves that still serve one; outcomes of the others are told.

    Raises PlanOvertakenError if a pod that is to move is another by now, or one that room is made for is gone (unless
    the plan is over anyhow).
    """
    overtaken = next((why for move in moves if (why := what_has_changed(move, cluster)) is not None), None)
    if overtaken is not None:
        raise PlanOvertakenError(f"{overtaken}; plan again")
    waiting = _open_placements(placements, cluster, outcomes, is_over=is_over)
    if not waiting and any(item.wave > 0 for item in plan.placements):
        moves = _needed(moves, outcomes)
    return tuple(moves), waiting


def rest_of(plan: Plan, moves: Sequence[Move], placements: Sequence[PlannedPlacement]) -> Plan:
    """A plan of what is left, its waves counted from 1 again; placements whose moves are all done come at once."""
    numbers = {wave: number for number, wave in enumerate(sorted({move.wave for move in moves}), 1)}

    def renumbered(wave: int) -> int:
        return max((number for old, number in numbers.items() if old <= wave), default=0)

    left = tuple(structs.replace(move, wave=numbers[move.wave]) for move in moves)
    return structs.replace(
        plan,
        moves=left,
        placements=tuple(structs.replace(item, wave=renumbered(item.wave)) for item in placements),
        waves=marked_waves(left),
    )


def require_standing(rest: Plan, cluster: Cluster) -> None:
    """Raise PlanOvertakenError where a pod that is to move has gone since the rest was proven."""
    gone = next((move.pod.key for move in rest.moves if move.pod.key not in cluster.pod_by_key), None)
    if gone is not None:
        raise PlanOvertakenError(f"{gone} is gone; plan again")


def _check_uids(plan: Plan) -> None:
    for pod in [*(move.pod for move in plan.moves), *(item.pod for item in plan.placements)]:
        if not pod.uid:
            raise PlanStoppedError(
                f"the plan names {pod.key} without a uid, so that nothing tells it from a later pod of that name; "
                "plan again on the cluster itself"
            )


def _same(cluster: Cluster, key: str, uid: str) -> Pod | None:
    """The pod if it is still there and holds or wants room."""
    pod = cluster.pod_by_key.get(key)
    return pod if pod is not None and pod.uid == uid and not pod.is_finished else None


def what_has_changed(move: Move, cluster: Cluster) -> str | None:
    """What no more is as a move has it: its pod, or where that is, or the node it is to go to; None: nothing."""
    pod = cluster.pod_by_key.get(move.pod.key)
    if pod is None or is_leaving(pod, move):
        return f"{move.pod.key}, which is to move, is gone or another pod of the same name by now"
    if pod.node_name != move.from_node:
        return f"{pod.key} is on {pod.node_name or 'no node'}, the plan moves it from {move.from_node}"
    if move.has_destination and move.to_node not in cluster.node_by_name:
        return f"node {move.to_node}, which {move.pod.key} is to move to, is not there"
    return None


def needs_no_room(item: PlannedPlacement, cluster: Cluster) -> bool:
    """Whether the pod that room is made for is gone, or another of its name by now."""
    pod = cluster.pod_by_key.get(item.pod.key)
    return pod is None or pod.uid != item.pod.uid


def _open_placements(
    placements: Sequence[PlannedPlacement], cluster: Cluster, outcomes: Outcomes, *, is_over: bool
) -> tuple[PlannedPlacement, ...]:
    still_open = []
    for item in placements:
        if needs_no_room(item, cluster):
            if is_over:
                outcomes.of_placement(item, OutcomeKind.LANDED_ELSEWHERE, None, GONE)
                continue
            raise PlanOvertakenError(
                f"{item.pod.key}, which the plan makes room for, is gone or another pod by now; plan again"
            )
        node = cluster.pod_by_key[item.pod.key].node_name
        if node is not None:
            outcomes.of_placement(item, landing(item.node, node), node)
        else:
            still_open.append(item)
    return tuple(still_open)


def _needed(moves: Sequence[Move], outcomes: Outcomes) -> tuple[Move, ...]:
    """Every pod that room was to be made for has a place: nothing is moved for it any more."""
    for move in moves:
        if move.objective == MAKE_ROOM:
            message = "not needed any more: every pod that it makes room for has a place"
            outcomes.of_move(move, OutcomeKind.NOT_ATTEMPTED, None, message)
    return tuple(move for move in moves if move.objective != MAKE_ROOM)


def _tell_gone(gone: Sequence[Move], cluster: Cluster, plan: Plan, outcomes: Outcomes) -> tuple[Pod, ...]:
    """Find the successors of pods that are gone; return those that wait for a node."""
    since = made_at(plan)
    claimed = {item.pod.uid for item in plan.placements}
    homeless = []
    for is_as_planned in (True, False):
        for move in gone:
            if outcomes.is_told(move):
                continue
            for pod in _successors(move, cluster, since):
                if pod.uid in claimed or (is_as_planned and pod.node_name != move.to_node):
                    continue
                claimed.add(pod.uid)
                if pod.node_name is None:
                    homeless.append(pod)
                    outcomes.of_move(move, OutcomeKind.UNKNOWN, None, f"gone before; {pod.key} waits for a node")
                else:
                    outcomes.of_move(move, landing(move.to_node, pod.node_name), pod.node_name, "done before")
                break
    for move in gone:
        if not outcomes.is_told(move):
            outcomes.of_move(move, OutcomeKind.LANDED_ELSEWHERE, None, "gone before; its replacement is not known")
    return tuple(homeless)


def _successors(move: Move, cluster: Cluster, since: float) -> list[Pod]:
    """Pods made after the plan that carry a name as the owner of the moved pod gives it."""
    stem = move.pod.name.rpartition("-")[0]
    return [
        pod
        for pod in cluster.pods_by_namespace.get(move.pod.namespace, ())
        if pod.uid != move.pod.uid
        and pod.controller is not None
        and pod.controller.name == stem
        and cluster.owner_problem(pod) is None
        and not pod.is_terminating
        and not pod.is_finished
        and (pod.created_at or 0.0) >= since
    ]


def made_at(plan: Plan) -> float:
    """When the plan's snapshot was taken, in whole seconds since the epoch as creation times are; 0 if unknown."""
    taken_at = plan.snapshot.taken_at
    return 0.0 if taken_at is None else float(int(datetime.fromisoformat(taken_at).timestamp()))
