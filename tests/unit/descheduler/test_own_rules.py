"""Our own rules beside a walk: who may go unready, what binds finished pods, and how a walk goes on after a refusal."""

from __future__ import annotations

from msgspec import UNSET

from rescheduler.descheduler.foretelling import foretold_plan
from rescheduler.descheduler.own_rules import OwnRules
from rescheduler.descheduler.reading.policy_file import read_descheduler_policy
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.foretold_plan import ForetoldPlan
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import cluster, node, pod, taint, workload
from tests.unit.disruption.surge_cases import deployment
from tests.unit.policy.policies import policy as policy_of

HEAD = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n"


def foretold(world: Cluster, plugin: str, arguments: str = "{}", own: str = "", top: str = "") -> ForetoldPlan:
    """What one plugin would do, our own policy beside it."""
    point = "balance" if plugin == "LowNodeUtilization" else "deschedule"
    text = (
        f"{HEAD}{top}profiles: [{{name: p, pluginConfig: [{{name: {plugin}, args: {arguments}}}], "
        f"plugins: {{{point}: {{enabled: [{plugin}]}}}}}}]"
    )
    return foretold_plan(world, read_descheduler_policy(text, "d.yaml"), DEFAULTS, OwnRules(policy_of(own)))


def names(plan: ForetoldPlan) -> list[str]:
    """Pods that go."""
    return [move.pod.name for move in plan.moves]


def aged(**fields: object) -> Cluster:
    """Three replicas, the last of which is not Ready."""
    pods = [pod(f"web-{number}", node="a", owner="web", is_ready=number < 2) for number in range(3)]
    return cluster(node("a"), node("b"), *pods, workload("web", 3, ready_replicas=2), **fields)


def test_an_unready_pod_may_go_where_it_was_chosen_by_its_state() -> None:
    """By age alone it may not; what is Ready is bound by the workload's floor either way."""
    by_state = foretold(aged(), "PodLifeTime", "{maxPodLifeTimeSeconds: 5, states: [Running]}")
    assert names(by_state) == ["web-2"]
    by_age = foretold(aged(), "PodLifeTime", "{maxPodLifeTimeSeconds: 5}")
    assert names(by_age) == []
    assert {refusal.pod.name: refusal.rule for refusal in by_age.refusals}["web-2"] == "NotReady"


def test_limits_bind_finished_pods_too() -> None:
    """Who says one eviction means one."""
    pods = [pod(f"web-{number}", node="a", owner="web", phase="Failed") for number in range(3)]
    world = cluster(node("a"), node("b"), *pods, workload("web", 3))
    plan = foretold(world, "RemoveFailedPods", own="limits: {maxEvictions: 1}")
    assert names(plan) == ["web-0"]
    assert [refusal.rule for refusal in plan.refusals] == ["CycleLimits", "CycleLimits"]


def tainted() -> Cluster:
    """A single replica and two pods of a pair on a node whose taint they do not tolerate."""
    return cluster(
        node("a", taints=[taint("x")]), node("b", cpu="16"), node("c"),
        pod("alone-0", node="a", owner="alone"), pod("web-0", node="a", owner="web"),
        pod("web-1", node="a", owner="web"), workload("alone", 1), workload("web", 2),
    )  # fmt: skip


TOTAL = "maxNoOfPodsToEvictTotal: 1\n"


def test_after_a_refusal_nobody_goes_in_its_place() -> None:
    """The total of one is used up by the pod that our rules keep."""
    plan = foretold(tainted(), "RemovePodsViolatingNodeTaints", top=TOTAL)
    assert (names(plan), [refusal.pod.name for refusal in plan.refusals]) == ([], ["alone-0"])


def test_after_a_refusal_the_walk_may_go_on() -> None:
    """The next candidate goes in its place: it names the one that stays, and has no number in the walk."""
    plan = foretold(tainted(), "RemovePodsViolatingNodeTaints", own="descheduler: {afterRefusal: Next}", top=TOTAL)
    (move,) = plan.moves
    assert (move.pod.name, move.order) == ("web-0", UNSET)
    assert move.instead_of is not UNSET
    assert move.instead_of.name == "alone-0"
    assert [(item.pod.name, item.order, item.rule) for item in plan.refusals] == [("alone-0", 1, "SingleReplica")]
    assert plan.objectives[0].value == 1


def test_who_is_chosen_either_way_keeps_its_number() -> None:
    """Only those that descheduler would not have asked for go in another's place."""
    plan = foretold(tainted(), "RemovePodsViolatingNodeTaints", own="descheduler: {afterRefusal: Next}")
    assert [(move.pod.name, move.order, move.instead_of) for move in plan.moves] == [
        ("web-0", 2, UNSET),
        ("web-1", 3, UNSET),
    ]
    assert [(refusal.pod.name, refusal.order) for refusal in plan.refusals] == [("alone-0", 1)]


def test_a_pod_that_is_to_move_by_surge_is_not_evicted() -> None:
    """A DeschedulerPolicy evicts, and the rules of evictions were not asked about such a pod."""
    objects = deployment("web", ["a"])
    world = cluster(node("a", taints=[taint("x")]), node("b"), *objects)
    rule = "disruption: {moveBy: [{method: Surge}]}\n"
    plan = foretold(world, "RemovePodsViolatingNodeTaints", own=rule)
    assert names(plan) == []
    assert [(item.rule, item.pod.name) for item in plan.refusals] == [("Method", "web-h1-0")]
