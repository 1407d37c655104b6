"""What fits on a node at most: once every movable pod has left it."""

from __future__ import annotations

from rescheduler.planning.instance import Amounts, Instance


def room_without_movable_pods(instance: Instance) -> list[list[int]]:
    """Amounts by resource for each node."""
    room = [list(free) for free in instance.free]
    for group in instance.groups:
        for row, held in enumerate(group.held):
            room[group.node][row] += held * len(group.pods)
    return room


def most_together(request: Amounts, room: list[int]) -> int:
    """How many pods with this request fit together."""
    return max(0, min((have // asked for asked, have in zip(request, room, strict=True) if asked), default=2**20))
