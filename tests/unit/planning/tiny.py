"""Tiny clusters for property tests, as the product sees them."""

from __future__ import annotations

from hypothesis import strategies as st

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, Toleration, TopologySpreadConstraint
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests import builders
from tests.clocks import FakeClock
from tests.unit.planning.asked import RoomRequest
from tests.unit.planning.brute_force import TinyCluster, TinyNode, TinyPod

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def as_cluster(tiny: TinyCluster) -> Cluster:
    """The same cluster in the product's model. Pod ``i`` is named ``WORKLOAD-i``."""
    nodes = [
        builders.node(
            f"n{number}",
            cpu=str(item.cores),
            zone=item.zone,
            taints=[builders.taint("special")] if item.is_tainted else (),
        )
        for number, item in enumerate(tiny.nodes)
    ]
    pods = [
        builders.pod(
            f"{item.workload}-{number:02d}",
            cpu=str(item.cores),
            memory="1Mi",
            node=None if item.node is None else f"n{item.node}",
            priority=item.priority,
            tolerations=(Toleration("special", "Exists"),) if item.tolerates else (),
            anti_affinity=(PodAffinityTerm(HOST, builders.selector(app=item.workload)),) if item.keeps_apart else (),
            topology_spread=(
                (TopologySpreadConstraint(ZONE, 1, selector=builders.selector(app=item.workload)),)
                if item.spreads
                else ()
            ),
        )
        for number, item in enumerate(tiny.pods)
    ]
    return builders.cluster(*nodes, *pods)


def request_for(tiny: TinyCluster, *, seed: int = 0, deadline_seconds: float = builders.PLENTY) -> RoomRequest:
    """The planner's question for a tiny cluster."""
    cluster = as_cluster(tiny)
    columns = columns_of(cluster)
    tiny_of = {f"default/{item.workload}-{number:02d}": item for number, item in enumerate(tiny.pods)}
    index_of = [next(n for n, pod in enumerate(cluster.pods) if tiny_of[pod.key] is item) for item in tiny.pods]
    movable = [n for n, pod in enumerate(cluster.pods) if (t := tiny_of[pod.key]).node is not None and t.is_movable]
    groups = [
        DisruptionGroup(
            "PodDisruptionBudget",
            f"default/{workload}",
            0 if workload in tiny.frozen else 1,
            tuple(n for n, pod in enumerate(cluster.pods) if tiny_of[pod.key].workload == workload),
        )
        for workload in sorted({item.workload for item in tiny.pods})
    ]
    return RoomRequest(
        prediction=SchedulerModel(columns),
        placement=Placement(columns),
        eligibility=Eligibility(
            movable=tuple(movable),
            refusals={},
            helpable=tuple(number for number, pod in enumerate(cluster.pods) if pod.is_pending),
            not_helpable={},
            groups=tuple(groups),
            limits=MoveLimits(max_evictions=tiny.max_evictions),
        ),
        is_guided_by_holds=True,
        deadline_seconds=deadline_seconds,
        seed=seed,
        clock=FakeClock(),
        prize=tiny.prize,
        helped_together=tuple(tuple(index_of[member] for member in group) for group in tiny.together),
    )


@st.composite
def tiny_clusters(
    draw: st.DrawFn,
    *,
    most_nodes: int = 4,
    most_running: int = 5,
    most_pending: int = 2,
    least_pending: int = 1,
    priorities: int = 2,
    caps: tuple[int | None, ...] = (None, None, 0, 1, 2),
) -> TinyCluster:
    """A few nodes, running and pending pods, workloads with anti-affinity, spread, tolerations and budgets."""
    nodes = draw(
        st.lists(
            st.builds(TinyNode, st.integers(2, 5), st.sampled_from("ab"), st.sampled_from((False, False, True))),
            min_size=2,
            max_size=most_nodes,
        )
    )
    rules = {
        name: draw(st.sampled_from(({}, {}, {"keeps_apart": True}, {"spreads": True}, {"tolerates": True})))
        for name in "pqr"
    }
    free = [item.cores for item in nodes]
    pods = []
    for _ in range(draw(st.integers(1, most_running))):
        name, cores = draw(st.sampled_from("pqr")), draw(st.integers(1, 3))
        where = draw(st.integers(0, len(nodes) - 1))
        if cores <= free[where]:
            free[where] -= cores
            pods.append(TinyPod(cores, name, where, draw(st.sampled_from((True, True, True, False))), **rules[name]))
    for _ in range(draw(st.integers(least_pending, most_pending))):
        name = draw(st.sampled_from("pqrs"))
        cores, priority = draw(st.integers(1, 4)), draw(st.integers(0, priorities - 1))
        pods.append(TinyPod(cores, name, None, priority=priority, **rules.get(name, {})))
    frozen = frozenset({draw(st.sampled_from("pqr"))}) if draw(st.integers(0, 4)) == 0 else frozenset()
    cap = draw(st.sampled_from(caps))
    return TinyCluster(tuple(nodes), tuple(pods), frozen, cap)
