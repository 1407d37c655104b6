"""What ``doctor`` finds in a snapshot."""

from __future__ import annotations

import pytest

from rescheduler.composition.diagnosis.cluster_findings import FIXES, OTHERS, cluster_findings
from rescheduler.disruption.rules import MOVING
from rescheduler.model.objects.annotations import STOP
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import Namespace
from rescheduler.report.diagnosis import Diagnosed
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import budget, cluster, node, pod
from tests.unit.policy.policies import policy


def found(snapshot: Cluster, body: str = "") -> list[Diagnosed]:
    """Findings under a policy, of schedulers as they come."""
    return list(cluster_findings(snapshot, policy(body), DEFAULTS))


def rules(snapshot: Cluster, body: str = "") -> list[str]:
    """Their rules."""
    return [finding.rule for finding in found(snapshot, body)]


def replicas(name: str = "web", count: int = 2) -> list[object]:
    """Pods of one workload that may be moved."""
    return [pod(f"{name}-{number}", "1", node="n1", owner=name) for number in range(count)]


def test_a_healthy_cluster_has_no_findings() -> None:
    """Two replicas and a budget that allows something."""
    assert found(cluster(node("n1"), *replicas(), budget("web", 1, desired_healthy=1, expected_pods=2))) == []


def test_pods_of_a_scheduler_that_is_not_modelled_are_counted_by_its_name() -> None:
    """With what to write."""
    snapshot = cluster(
        node("n1"), *replicas(), pod("a", "1", scheduler_name="volcano"), pod("b", "1", scheduler_name="volcano")
    )
    [finding] = [one for one in found(snapshot) if one.rule == "UnknownScheduler"]
    assert (finding.object, finding.blocks) == ("volcano", False)
    assert finding.message.startswith("2 pods of this scheduler can be neither moved nor helped")
    assert "schedulerName: volcano" in finding.fix


@pytest.mark.parametrize(("desired", "expected", "is_told"), [(2, 2, True), (3, 2, True), (1, 2, False), (0, 0, False)])
def test_budgets_that_never_allow_anything_are_told(desired: int, expected: int, is_told: bool) -> None:
    """However healthy their pods are; one that only allows nothing now is not."""
    snapshot = cluster(
        node("n1"), *replicas(),
        budget("web", 0, desired_healthy=desired, expected_pods=expected, max_unavailable="0"),
    )  # fmt: skip
    told = [finding for finding in found(snapshot) if finding.rule == "PodDisruptionBudget"]
    assert bool(told) is is_told
    if told:
        assert told[0].object == "default/web"
        assert "maxUnavailable 0" in told[0].message


def test_pods_that_stay_for_good_are_counted_by_rule_with_the_way_out() -> None:
    """An example each; what is meant to stay, as DaemonSets' pods are, is not."""
    snapshot = cluster(node("n1"), *replicas(), *replicas("single", 1), pod("bare", "1", node="n1", owner=None))
    told = {finding.rule: finding for finding in found(snapshot)}
    assert set(told) == {"SingleReplica", "Ownerless"}
    assert told["SingleReplica"].object == "default/single-0"
    assert "this pod stays: " in told["SingleReplica"].message
    assert "singleReplicas: Allow" in told["SingleReplica"].fix


def test_where_nothing_may_move_that_is_said_too() -> None:
    """With the mode that has nothing to do."""
    snapshot = cluster(node("n1"), *replicas("single", 1))
    assert rules(snapshot) == ["SingleReplica", "NothingMovable"]
    assert "mode: Execute has nothing to do" in found(snapshot, "mode: Execute")[-1].message


@pytest.mark.parametrize("word", OTHERS)
def test_others_that_evict_are_named(word: str) -> None:
    """By the name of their controller, a label or an image."""
    for evictor in (
        pod("x", "1", node="n1", owner=f"{word}-79f8"),
        pod("x", "1", node="n1", labels={"app.kubernetes.io/name": word}),
        pod("x", "1", node="n1", images=(f"registry.k8s.io/sched/{word}:v0.33.0",)),
    ):
        told = [finding for finding in found(cluster(node("n1"), evictor)) if finding.rule == "OtherEvictor"]
        assert [(finding.object, finding.fix) for finding in told] == [("default/x", OTHERS[word])]


def test_names_that_only_contain_such_a_word_are_not_taken_for_it() -> None:
    """A program of one's own may be called almost anything."""
    other = pod("x", "1", node="n1", owner="my-karpenter-exporter")
    assert "OtherEvictor" not in rules(cluster(node("n1"), other))


def test_a_kill_switch_that_is_on_blocks() -> None:
    """With how to take it off."""
    marked = Namespace(name="rescheduler-holds", annotations={STOP: "storage work"})
    finding = found(cluster(node("n1"), *replicas(), namespaces=(marked,)))[0]
    assert (finding.rule, finding.blocks) == ("KillSwitch", True)
    assert "storage work" in finding.message
    assert finding.fix == f"kubectl annotate namespace rescheduler-holds {STOP}- lets it go on"


def test_every_fix_is_of_a_rule_that_there_is() -> None:
    """A rule that is renamed takes its fix with it."""
    assert set(FIXES) <= {rule.name for stage in MOVING for rule in stage.rules}
