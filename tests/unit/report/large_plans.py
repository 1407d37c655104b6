"""Clusters and plans of every size and objective, made without a planner, for tests of what people see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from msgspec.structs import asdict

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import (
    Move,
    MoveOutcome,
    ObjectiveResult,
    OutcomeKind,
    Plan,
    PlannedPlacement,
    PlanResult,
    PodReference,
    Refusal,
    SnapshotSummary,
    Status,
)
from tests.builders import cluster, node, pod
from tests.unit.report.plans import HOSTILE, reference

GPU = "example.com/gpu"


def chain() -> tuple[Cluster, Plan]:
    """Room for one large pod by a chain of three moves in three waves; a second pending pod fits already."""
    found = cluster(
        *(node(f"n{at}", "8") for at in range(1, 7)),
        pod("web-1", "4", node="n1"), pod("db-1", "3", node="n1"), pod("api-1", "3", node="n2"),
        pod("cache-1", "4", node="n2"), pod("job-1", "2", node="n3"), pod("log-1", "5", node="n3"),
        pod("web-2", "4", node="n4"), pod("web-3", "1", node="n5"), pod("big-1", "5"), pod("tiny-1", "1"),
    )  # fmt: skip
    moves = (
        Move(reference("job-1"), "n3", "n5", 1, "MakeRoom", "makes room for default/api-1"),
        Move(reference("api-1"), "n2", "n3", 2, "MakeRoom", "makes room for default/web-1"),
        Move(reference("web-1"), "n1", "n2", 3, "MakeRoom", "makes room for default/big-1", needs_guidance=True),
    )
    places = (PlannedPlacement(reference("tiny-1"), "n6", 0), PlannedPlacement(reference("big-1"), "n1", 3))
    answer = ObjectiveResult("MakeRoom", Status.OPTIMAL, 3, 3, 0.0, "evictions", 0.25, helped=2, wanted=2)
    return found, _plan(found, [answer], moves, places, [Refusal("SingleReplica", "one replica", reference("db-1"))])


def emptying(nodes: int = 24, emptied: int = 12, pods_on_each: int = 3) -> tuple[Cluster, Plan]:
    """The first nodes are emptied onto the others, a few pods a wave; some other nodes are blocked."""
    names = [f"node-{at:05d}" for at in range(nodes)]
    pods = [
        pod(f"app{at % 7}-{place}-{at}", "500m", node=name, namespace=f"team-{at % 5}", owner=f"app{at % 7}")
        for at, name in enumerate(names)
        for place in range(pods_on_each)
    ]
    found = cluster(*(node(name, "8") for name in names), *pods)
    goals = names[emptied:]
    leaving = [one for one in pods if one.node_name in set(names[:emptied])]
    moves = [
        Move(
            _of(one), str(one.node_name), goals[at % len(goals)], 1 + at // 8, "EmptyNodes", f"empties {one.node_name}"
        )
        for at, one in enumerate(leaving)
    ]
    refusals = [Refusal("DaemonSet", f"{name} stays in use", node=name) for name in goals]
    message = f"{emptied} nodes emptied; {len(goals)} nodes kept in use by pods that must stay"
    bound = emptied + max(1, emptied // 12)
    answer = ObjectiveResult(
        "EmptyNodes", Status.FEASIBLE, emptied, bound, (bound - emptied) / bound, "nodes", 2.31, message=message
    )
    return found, _plan(found, [answer], moves, (), refusals)


def spreading(nodes: int = 120, moves: int = 300, waves: int = 60, pods_on_each: int = 8) -> tuple[Cluster, Plan]:
    """Pods go from full nodes to new ones, after a few moves of another objective; GPUs among what they ask for."""
    random = Random(0)
    old, new = nodes * 2 // 3, nodes - nodes * 2 // 3
    names = [f"gke-pool-{'a' if at < old else 'b'}-{at:04d}.example.internal" for at in range(nodes)]
    pods = [
        pod(
            f"svc{random.randrange(30)}-{at}", f"{random.choice((100, 250, 500, 1000))}m", "512Mi",
            node=names[random.randrange(old)], namespace=f"team-{random.randrange(9)}",
            extended={GPU: "1"} if at % 25 == 0 else None,
        )
        for at in range(max(moves, nodes * pods_on_each))
    ]  # fmt: skip
    found = cluster(*(node(name, "16", "64Gi", extended={GPU: "8"}) for name in names), *pods)
    objectives = ("FaultDomains", "SpreadLoad")
    chosen = tuple(
        Move(
            _of(one), str(one.node_name), names[old + at % new], 1 + at * waves // moves,
            objectives[at >= moves // 10], "relieves a hot node", needs_guidance=at % 40 == 0,
        )
        for at, one in enumerate(pods[:moves])
    )  # fmt: skip
    answers = [
        ObjectiveResult("FaultDomains", Status.OPTIMAL, 0, 0, 0.0, "violations", 0.4),
        ObjectiveResult(
            "SpreadLoad", Status.FEASIBLE, 1.61803, 1.5, 0.0787, "nodes' worth of overload", 4.2,
            message="cpu 120 -> 26 cores above the target; hottest node 97% -> 71%",
        ),
    ]  # fmt: skip
    return found, _plan(found, answers, chosen, (), [])


def nothing_to_do() -> tuple[Cluster, Plan]:
    """An empty plan, which says why."""
    found = cluster(*(node(f"n{at}") for at in range(9)), *(pod(f"web-{at}", "3", node=f"n{at}") for at in range(9)))
    answer = ObjectiveResult(
        "SeparateAntagonists", Status.UNKNOWN, None, None, None, "pairs", 10.0,
        message="the deadline of 10s passed before a plan was found",
    )  # fmt: skip
    return found, _plan(found, [answer], (), (), [])


def hostile() -> tuple[Cluster, Plan]:
    """Every name and text tries to break out."""
    nasty = f"{HOSTILE}\"'></style><script>alert(1)</script>{'w' * 300}"
    found = cluster(
        node(nasty), node("n2"), pod(f"a{nasty}", "1", node=nasty, namespace=nasty, owner=nasty), pod("p", "1")
    )
    victim = next(one for one in found.pods if one.node_name == nasty)
    moves = (Move(_of(victim), nasty, "n2", 1, nasty, nasty),)
    answer = ObjectiveResult(
        nasty, Status.FEASIBLE, 1e300, 2.5, 1e300, nasty, 1e9, message=nasty, certificate={nasty: [nasty]}
    )
    places = (PlannedPlacement(reference("p"), nasty, 2),)
    plan = _plan(found, [answer], moves, places, [Refusal(nasty, nasty, node=nasty)], warnings=(nasty,))
    return found, plan


def carried_out(plan: Plan, outcomes: Sequence[OutcomeKind]) -> PlanResult:
    """The plan's result with these outcomes in turn; whoever lands elsewhere lands where its move began."""
    moves = tuple(
        MoveOutcome(
            **asdict(move), outcome=kind, landed_on=_landed(move, kind), message="" if _landed(move, kind) else "x"
        )
        for move, kind in zip(plan.moves, _in_turn(outcomes, len(plan.moves)), strict=True)
    )
    return PlanResult(
        snapshot=plan.snapshot, objectives=plan.objectives, moves=moves, refusals=plan.refusals, message="stopped early"
    )


def _landed(move: Move, kind: OutcomeKind) -> str | None:
    return {OutcomeKind.LANDED: move.to_node, OutcomeKind.LANDED_ELSEWHERE: move.from_node}.get(kind)


def _in_turn(outcomes: Sequence[OutcomeKind], count: int) -> Iterable[OutcomeKind]:
    return (outcomes[at % len(outcomes)] for at in range(count))


def _of(one: Pod) -> PodReference:
    return PodReference(one.namespace, one.name, one.uid)


def _plan(
    found: Cluster,
    objectives: Sequence[ObjectiveResult],
    moves: Sequence[Move],
    placements: Sequence[PlannedPlacement],
    refusals: Sequence[Refusal],
    warnings: tuple[str, ...] = (),
) -> Plan:
    nodes: tuple[Node, ...] = found.nodes
    return Plan(
        snapshot=SnapshotSummary("2027-01-15T08:00:00Z", len(nodes), len(found.pods), len(found.pending_pods), "test"),
        objectives=tuple(objectives),
        moves=tuple(moves),
        placements=tuple(placements),
        refusals=tuple(refusals),
        warnings=warnings,
    )
