"""One make-room question over some of the nodes, in small whole numbers, with identical pods counted together.

Everything off the chosen nodes stays as it is. What a solver reads; no solver is known here.
"""

from __future__ import annotations

from dataclasses import dataclass

Amounts = tuple[int, ...]


@dataclass(frozen=True)
class MovableGroup:
    """Identical movable pods on one node. ``kind`` says how they arrive elsewhere."""

    node: int
    pods: tuple[int, ...]
    held: Amounts
    kind: int
    price: int
    namespace: str


@dataclass(frozen=True)
class PodKind:
    """Pods that are alike to every node. At most ``count`` of them can arrive, on ``nodes`` only.

    Nodes in ``shut`` refuse them for other reasons than room as things stand: they open at the earliest once a pod of
    ``watched_groups`` leaves or one of ``watched_kinds`` arrives (the pod itself left out: ``watches_itself``).
    """

    request: Amounts
    count: int
    nodes: tuple[int, ...]
    pod: int
    shut: tuple[int, ...] = ()
    watched_groups: tuple[int, ...] = ()
    watched_kinds: tuple[int, ...] = ()
    watches_itself: bool = False


@dataclass(frozen=True)
class PendingDemand:
    """Identical pending pods of one priority, and of one group if they are of any."""

    pods: tuple[int, ...]
    kind: int
    priority: int


@dataclass(frozen=True)
class Separation:
    """A pod of ``kind`` may arrive in a domain (``nodes``) only if all of ``groups`` have left it and no rival arrives.

    ``rivals``: kinds that may not arrive there beside it; ``is_mutual``: nor may a second one of its own kind.
    """

    kind: int
    nodes: tuple[int, ...]
    groups: tuple[int, ...]
    rivals: tuple[int, ...]
    is_mutual: bool


@dataclass(frozen=True)
class SpreadDomain:
    """One topology domain: its ``nodes``, those of them that are ``counted``, how many pods count there, in ``groups``.

    ``groups`` are the ones whose pods count and may leave. ``is_least``: the domain may be the least of the rule.
    """

    nodes: tuple[int, ...]
    counted: tuple[int, ...]
    count: int
    groups: tuple[int, ...]
    is_least: bool


@dataclass(frozen=True)
class SpreadBound:
    """A binding spread constraint: a domain where one of ``kinds`` arrives exceeds the least one by ``most`` at most.

    The pods of ``counted_kinds`` count where they arrive; ``most`` has the arriving pod's own weight taken off, which
    counts if ``counts_itself``. ``is_from_zero``: there are too few domains, so that the least is 0.
    """

    kinds: tuple[int, ...]
    counted_kinds: tuple[int, ...]
    domains: tuple[SpreadDomain, ...]
    most: int
    counts_itself: bool
    is_from_zero: bool


@dataclass(frozen=True)
class Hole:
    """Of ``number`` pods of a kind each one that arrives on a node takes ``least`` / ``number`` departures from it."""

    kind: int
    node: int
    least: int
    number: int


@dataclass(frozen=True)
class Instance:
    """The whole question. ``nodes`` are node indices of the cluster; elsewhere nodes are positions in this tuple.

    ``free[node][row]`` may be negative. ``is_exact``: the whole numbers lose nothing of the real amounts;
    ``covers_all``: no movable pod and no node was left out, so that what is proven here is proven for the cluster.
    ``together``: demands that are met whole or not at all, in groups.
    """

    nodes: tuple[int, ...]
    free: tuple[Amounts, ...]
    groups: tuple[MovableGroup, ...]
    kinds: tuple[PodKind, ...]
    demands: tuple[PendingDemand, ...]
    separations: tuple[Separation, ...]
    is_exact: bool
    covers_all: bool
    evenness: tuple[SpreadBound, ...] = ()
    together: tuple[tuple[int, ...], ...] = ()
    holes: tuple[Hole, ...] = ()

    @property
    def size(self) -> int:
        """Number of (kind, node) pairs: what a model of this instance grows with."""
        return sum(len(kind.nodes) for kind in self.kinds)


# What fits on a node at most: once every movable pod has left it.


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
