"""How much of a plan may be on its way together, without anything that all have to wait for between."""

from __future__ import annotations

from typing import Final

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.needs import needs_of
from rescheduler.model.plan.plan import Move, Plan

MOST_TOGETHER: Final = 40
"""Later waves join a segment up to so many moves: placeholders for more take the job controller too long."""


def segment_end(rest: Plan, cluster: Cluster, *, by_waves: bool, waits_until_repaid: bool) -> int:
    """The last wave of those that make up the first segment of what is left of a plan.

    A wave joins those before it where one of its moves at least needs none of theirs. All have to wait where pods leave
    before they arrive, or are moved otherwise than by eviction, and where pending pods get the room that was made.
    ``by_waves``: where the order of waves says where the scheduler sends pods, each is a segment of its own.
    ``waits_until_repaid``: a workload loses pods in one wave of a segment only, since its debts end after that.
    """
    ends_at = min((item.wave for item in rest.placements if item.wave > 0), default=None)
    last, number = 1, 0
    needs = dict(zip((move.pod for move in rest.moves), needs_of(rest.moves, cluster), strict=True))
    met: dict[str, int] = {}
    for wave in sorted({move.wave for move in rest.moves}):
        moves = [move for move in rest.moves if move.wave == wave]
        owners = _workloads(moves, cluster) if waits_until_repaid else set()
        is_first = wave == min(move.wave for move in rest.moves)
        stands_alone = any(map(is_special, moves))
        is_apart = by_waves or stands_alone or not owners.isdisjoint(met)
        number += len(moves)
        before = {index for index, move in enumerate(rest.moves) if move.wave < wave}
        gains = any(before.isdisjoint(needs[move.pod]) for move in moves)
        is_apart = is_apart or number > MOST_TOGETHER or not gains
        if not is_first and (is_apart or (ends_at is not None and wave > ends_at)):
            break
        last = wave
        met.update(dict.fromkeys(owners, wave))
        if stands_alone:
            break
    return last


def is_special(move: Move) -> bool:
    """Whether a pod leaves before others arrive, or is moved otherwise than by eviction."""
    return move.evict_first or move.method is not MoveMethod.EVICT


def _workloads(moves: list[Move], cluster: Cluster) -> set[str]:
    pods = (cluster.pod_by_key.get(move.pod.key) for move in moves)
    found = (cluster.workload_of(pod) for pod in pods if pod is not None)
    return {workload.uid for workload in found if workload is not None}
