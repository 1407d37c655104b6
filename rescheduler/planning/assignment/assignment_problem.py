"""A few pods, the nodes to which each may go, and what their final places cost: a problem for an exact solver.

Members are the pods of the problem, named by position. Other pods stand where they are, or are left out, which makes a
assignment problem a relaxation: its least cost is a bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rescheduler.model.columns.arrays import BoolArray, IndexArray, IntArray
from rescheduler.planning.problem.remaining_limits import RemainingLimits


@dataclass(frozen=True, eq=False)
class CrowdCost:
    """Each pair within a domain costs 1. ``standing``: int64[D], pods that stand in each domain already.

    Pairs among those that stand are not counted. ``codes``: int32[N], the domain of each node, NOWHERE for none.
    """

    codes: IndexArray
    members: tuple[int, ...]
    standing: IntArray


@dataclass(frozen=True, eq=False)
class StrifeCost:
    """Each pair of one from either side within a domain costs 1."""

    codes: IndexArray
    ones: tuple[int, ...]
    others: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class SpreadCost:
    """Each pod above the least domain and ``max_skew`` costs 1; ``is_from_zero``: the least domain counts as empty."""

    codes: IndexArray
    members: tuple[int, ...]
    standing: IntArray
    is_domain: BoolArray
    max_skew: int
    is_from_zero: bool


@dataclass(frozen=True, eq=False)
class AffinityCost:
    """A pod costs 1 unless a partner is in its domain of every key; without any partner it may be ``is_free_alone``.

    ``holder``: a member, or NOWHERE for a pod that stands on ``node``. For each key ``codes`` int32[N] and the partners
    that stand in each domain, int64[D]. ``partners``: members, the holder left out. ``has_standing``: some partner
    stands on a node with some key.
    """

    holder: int
    node: int
    codes: tuple[IndexArray, ...]
    standing: tuple[IntArray, ...]
    partners: tuple[int, ...]
    has_standing: bool
    is_free_alone: bool


@dataclass(frozen=True, eq=False)
class MemberConflict:
    """A member that moves may not end in one domain with another member."""

    one: int
    other: int
    codes: IndexArray


@dataclass
class AssignmentCosts:
    """What places cost: ``constant`` whatever happens, ``of_place`` by (member, node), and the rest."""

    constant: int = 0
    of_place: dict[tuple[int, int], int] = field(default_factory=dict)
    crowds: list[CrowdCost] = field(default_factory=list)
    strifes: list[StrifeCost] = field(default_factory=list)
    evennesses: list[SpreadCost] = field(default_factory=list)
    needs: list[AffinityCost] = field(default_factory=list)

    def charge(self, member: int, node: int, amount: int) -> None:
        """A place costs more."""
        if amount:
            self.of_place[member, node] = self.of_place.get((member, node), 0) + amount


@dataclass(frozen=True, eq=False)
class AssignmentProblem:
    """Members, where they may end, and what binds them all.

    ``rows``: the members as rows of the problem's movable pods. ``nodes``: for each member the nodes that are open to
    it, its home (``homes``) first. ``request``: for each member what it asks for where it arrives, ``held``: what it
    holds at home, both by resource, in whole units of the solver; ``room``: by node and resource, without the members.
    ``fees``: the price of moving each. ``namespaces``: of each member. ``limits``: evictions that are left.
    """

    rows: tuple[int, ...]
    homes: tuple[int, ...]
    nodes: tuple[tuple[int, ...], ...]
    request: tuple[tuple[int, ...], ...]
    held: tuple[tuple[int, ...], ...]
    room: Mapping[int, tuple[int, ...]]
    fees: tuple[int, ...]
    namespaces: tuple[str, ...]
    limits: RemainingLimits
    conflicts: tuple[MemberConflict, ...]
    costs: AssignmentCosts

    @property
    def size(self) -> int:
        """How much a solver has to look at: places, and places of members in conflict or strife with each other."""
        places = [len(nodes) for nodes in self.nodes]
        conflicts = sum(places[conflict.one] for conflict in self.conflicts)
        strifes = sum(places[one] * len(strife.others) for strife in self.costs.strifes for one in strife.ones)
        return sum(places) + conflicts + strifes
