"""Builds the instance for a choice of nodes: groups identical pods, scales amounts, states who keeps whom off."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.planning.problem.amounts import scale_for
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.instance import Instance, MovableGroup, PendingDemand, PodKind
from rescheduler.planning.room_model.instance_rules import evenness_of, holes_of, separations_of
from rescheduler.planning.waves.waves import GroupsOfPods


def build_instance(
    problem: Problem, nodes: IntArray, *, for_bound: bool = False, pending: Sequence[int] | None = None
) -> Instance:
    """State the question over ``nodes`` (indices, ascending) and the movable pods on them.

    ``for_bound``: round, where that is needed, so that no plan is lost; the default loses none that is false.
    ``pending``: only these pods wait (None: all that are to be helped).
    """
    return _Builder(problem, nodes, problem.pending if pending is None else pending, for_bound=for_bound).build()


class _Builder:
    def __init__(self, problem: Problem, nodes: IntArray, pending: Sequence[int], *, for_bound: bool) -> None:
        self.problem = problem
        self.nodes = nodes
        self.pending = pending
        self.for_bound = for_bound
        self.local = np.full(problem.node_count, NOWHERE, dtype=np.int64)
        self.local[nodes] = np.arange(len(nodes))
        self.rows = np.flatnonzero(self.local[problem.origin] != NOWHERE)
        self.watched = self._watched()
        self.kinds: list[PodKind] = []
        self.kind_index: dict[Hashable, int] = {}

    def build(self) -> Instance:
        problem = self.problem
        asked = [problem.request_of(pod) for pod in self.pending]
        requests = (
            np.column_stack([problem.requests[:, self.rows], *asked]) if asked else problem.requests[:, self.rows]
        )
        used = np.flatnonzero(requests.any(axis=1))
        held = problem.held[:, self.rows][used]
        room = self._room(used)
        self.used_rows = used
        self.scale = scale_for(np.column_stack([requests[used], held]), room)
        self.requests = self._scaled_requests(problem.requests[:, self.rows][used])
        self.held = self.scale.up(held) if self.for_bound else self.scale.down(held)
        groups = self._groups()
        demands = self._demands()
        free = self.scale.up(room) if self.for_bound and not self.scale.is_exact else self.scale.down(room)
        kinds = self._kinds_with_watches(groups, demands)
        return Instance(
            nodes=tuple(self.nodes.tolist()),
            free=tuple(map(tuple, free.T.tolist())),
            groups=groups,
            kinds=kinds,
            demands=demands,
            separations=separations_of(problem, self.local, kinds, groups),
            is_exact=self.scale.is_exact,
            covers_all=len(self.rows) == len(problem.movable) and len(self.nodes) == problem.node_count,
            evenness=evenness_of(problem, self.local, kinds, groups),
            together=self._together(demands),
            holes=holes_of(problem, self.nodes, demands, kinds),
        )

    def _room(self, used: IntArray) -> IntArray:
        """Room of the nodes, int64[R, n]; no further below zero than what may leave plus one, which means the same."""
        total = np.zeros((len(used), self.problem.node_count), dtype=np.int64)
        np.add.at(total.T, self.problem.origin[self.rows], self.problem.held[:, self.rows][used].T)
        return np.maximum(self.problem.free[np.ix_(used, self.nodes)], -total[:, self.nodes] - 1)

    def _scaled_requests(self, amounts: IntArray) -> IntArray:
        return self.scale.down(amounts) if self.for_bound else self.scale.up(amounts)

    def _watched(self) -> BoolArray:
        problem = self.problem
        watched = np.zeros(problem.columns.pod_count, dtype=np.bool_)
        seen: set[tuple[int, int]] = set()
        columns = problem.columns
        for pod in (*self.pending, *problem.movable[self.rows].tolist()):
            key = (int(columns.shape_of[pod]), int(columns.label_set_of[pod]))
            if key not in seen or columns.cluster.pods[pod].volumes:
                seen.add(key)
                if problem.is_entangled(pod):
                    watched[problem.entanglement.watched(pod)] = True
        return watched

    def _groups(self) -> tuple[MovableGroup, ...]:
        problem = self.problem
        pods = problem.columns.cluster.pods
        by_key: dict[Hashable, list[int]] = {}
        by_namespace = problem.remaining.of_namespace is not None
        prices = problem.prices(self.rows)
        share = GroupsOfPods(problem) if problem.may_evict_first else None  # who leaves in one wave matters there
        for position, row in enumerate(self.rows.tolist()):
            pod = int(problem.movable[row])
            key = (
                int(problem.origin[row]),
                self._kind_key(pod, self.requests[:, position]),
                self.held[:, position].tobytes(),
                int(prices[position]),
                self._labels(pod),
                pods[pod].namespace if by_namespace else "",
                () if share is None else tuple(share.of(pod)),
            )
            by_key.setdefault(key, []).append(position)
        return tuple(self._group(members) for members in by_key.values())

    def _group(self, members: list[int]) -> MovableGroup:
        problem = self.problem
        first = members[0]
        rows = self.rows[members]
        pods = tuple(problem.movable[rows].tolist())
        row = int(rows[0])
        key = self._kind_key(pods[0], self.requests[:, first])
        node = int(self.local[problem.origin[row]])
        return MovableGroup(
            node=node,
            pods=pods,
            held=tuple(self.held[:, first].tolist()),
            kind=self._kind(key, pods[0], self.requests[:, first], len(pods)),
            price=int(problem.prices(rows[:1])[0]),
            namespace=problem.columns.cluster.pods[pods[0]].namespace,
        )

    def _kind_key(self, pod: int, request: IntArray) -> Hashable:
        if self.problem.is_entangled(pod):
            columns = self.problem.columns
            alone = pod if columns.cluster.pods[pod].volumes else NOWHERE
            return ("entangled", int(columns.shape_of[pod]), int(columns.label_set_of[pod]), alone)
        return (self.problem.static_mask(pod)[0], request.tobytes(), self._labels(pod))

    def _kind(self, key: Hashable, pod: int, request: IntArray, count: int) -> int:
        number = self.kind_index.get(key)
        if number is not None:
            known = self.kinds[number]
            self.kinds[number] = PodKind(known.request, known.count + count, known.nodes, known.pod)
            return number
        mask = self.problem.static_mask(pod)[1]
        nodes = tuple(self.local[np.flatnonzero(mask & (self.local != NOWHERE))].tolist())
        self.kinds.append(PodKind(tuple(request.tolist()), count, nodes, pod))
        number = self.kind_index[key] = len(self.kinds) - 1
        return number

    def _demands(self) -> tuple[PendingDemand, ...]:
        problem = self.problem
        by_key: dict[Hashable, list[int]] = {}
        for pod in self.pending:
            pending_groups = problem.pending_groups
            importance = (pending_groups.priority(pod), pending_groups.group_of.get(pod, NOWHERE))
            by_key.setdefault(("pending", importance, self._kind_key(pod, self._request(pod))), []).append(pod)
        return tuple(
            PendingDemand(
                pods=tuple(pods),
                kind=self._kind(key, pods[0], self._request(pods[0]), len(pods)),
                priority=problem.pending_groups.priority(pods[0]),
            )
            for key, pods in by_key.items()
        )

    def _together(self, demands: tuple[PendingDemand, ...]) -> tuple[tuple[int, ...], ...]:
        """Demands of each group of pods that go together."""
        groups: dict[int, list[int]] = {}
        for number, demand in enumerate(demands):
            group = self.problem.pending_groups.group_of.get(demand.pods[0])
            if group is not None:
                groups.setdefault(group, []).append(number)
        return tuple(map(tuple, groups.values()))

    def _labels(self, pod: int) -> int:
        """The label set where somebody looks at it, else nothing: such pods are alike whatever their labels."""
        return int(self.problem.columns.label_set_of[pod]) if self.watched[pod] else NOWHERE

    def _request(self, pod: int) -> IntArray:
        request = self.problem.request_of(pod)[self.used_rows][:, None]
        return self._scaled_requests(request)[:, 0]

    def _kinds_with_watches(
        self, groups: tuple[MovableGroup, ...], demands: tuple[PendingDemand, ...]
    ) -> tuple[PodKind, ...]:
        members: list[list[int]] = [[] for _ in self.kinds]
        for group in groups:
            members[group.kind].append(group.pods[0])
        for demand in demands:
            members[demand.kind].append(demand.pods[0])
        firsts = np.array([group.pods[0] for group in groups], dtype=np.int64)
        return tuple(
            self._with_watches(kind, pods, firsts, demands) if self.problem.is_entangled(kind.pod) else kind
            for kind, pods in zip(self.kinds, members, strict=True)
        )

    def _with_watches(
        self, kind: PodKind, pods: list[int], firsts: IntArray, demands: tuple[PendingDemand, ...]
    ) -> PodKind:
        """Leave out nodes that refuse the pods for good, and mark those that refuse them as things stand.

        ``pods``: one of the kind from each node; a node is shut if it refuses all of them. ``firsts``: a pod of each
        group.
        """
        problem = self.problem
        asked = pods if problem.entanglement.origin_matters(kind.pod) else pods[:1]
        refusals = [problem.refused_by_others(pod, problem.start)[self.nodes] for pod in asked]
        refused = np.logical_and.reduce(refusals)
        banned = self._banned_for_good(kind.pod)
        nodes = tuple(node for node in kind.nodes if not banned[node])
        is_watched = np.zeros(problem.columns.pod_count, dtype=np.bool_)
        is_watched[problem.entanglement.watched(kind.pod)] = True
        return PodKind(
            request=kind.request,
            count=kind.count,
            nodes=nodes,
            pod=kind.pod,
            shut=tuple(node for node in nodes if refused[node]),
            watched_groups=tuple(np.flatnonzero(is_watched[firsts]).tolist()),
            watched_kinds=tuple(demand.kind for demand in demands if is_watched[demand.pods[0]]),
            watches_itself=bool(is_watched[kind.pod]),
        )

    def _banned_for_good(self, pod: int) -> BoolArray:
        """Chosen nodes that no move opens: a topology key is missing, or a pod that stays keeps this one off."""
        problem = self.problem
        domains = problem.columns.domains
        banned = np.zeros(problem.node_count, dtype=np.bool_)
        for key in (
            *(rule.topology_key for rule in problem.entanglement.spread_rules(pod)),
            *problem.entanglement.attractors(pod)[0],
        ):
            banned |= domains.of(key)[0] == NOWHERE
        moving = np.zeros(problem.columns.pod_count, dtype=np.bool_)
        moving[problem.movable[self.rows]] = True
        for conflict in problem.entanglement.conflicts(pod):
            sites = problem.start.sites(conflict.pods[~moving[conflict.pods]], without=pod)
            if conflict.topology_key is None:
                banned[sites] = True
            else:
                banned |= domains.reach(conflict.topology_key, sites)
        found: BoolArray = banned[self.nodes]
        return found
