"""Configured profiles as filters and scores that predict."""

from __future__ import annotations

import numpy as np
import pytest

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, PreferredNodeTerm, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.model.usage.usage import Statistics, Usage, UsageWindows
from rescheduler.scheduling.configuration import built_in, scheduling_profiles
from rescheduler.scheduling.filters.node_usage import NodeUsage as NodeUsageFilter
from rescheduler.scheduling.profile import Profile, default_profile
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.configuration.reading import configured, kube, read, with_plugins

NODES = (node("a", "4", zone="z1", labels={"pool": "x"}), node("b", "8", zone="z2"), node("c", "16", zone="z2"))


def model(
    text: str, *pods: Pod, windows: UsageWindows | None = None, server_version: str = "v1.36.0"
) -> SchedulerModel:
    """The scheduler that a text configures, over three nodes."""
    columns = columns_of(cluster(*NODES, *pods, server_version=server_version))
    profiles = scheduling_profiles(read(text), server_version=server_version, windows=windows, node_count=3)
    return SchedulerModel(columns, profiles)


def best(found: SchedulerModel) -> list[str]:
    """Names of the best nodes for the first pod."""
    chosen = found.best_nodes(0, Placement(found.columns))
    return [found.columns.cluster.nodes[number].name for number in chosen]


def scores(found: SchedulerModel) -> dict[str, list[int]]:
    """Scores of the first pod on all nodes."""
    everywhere = np.ones(3, dtype=np.bool_)
    return {name: values.tolist() for name, values in found.scores(0, Placement(found.columns), everywhere).items()}


def shape_of(profile: Profile) -> tuple[list[str], dict[str, object]]:
    """Filters in order, and scores with weights."""
    return [one.name for one in profile.filters], {one.plugin.name: (one.weight, one.plugin) for one in profile.scores}


@pytest.mark.parametrize("version", ["v1.34.2", "v1.36.3", None])
def test_built_in_equals_the_default_profile(version: str | None) -> None:
    """kube-scheduler's defaults are the same whether they are read from a file, built in, or hard-wired."""
    wanted_filters, wanted = shape_of(default_profile(version))
    for configuration in (built_in(), read(kube(""))):
        profiles = scheduling_profiles(configuration, server_version=version, windows=None, node_count=3)
        filters, found = shape_of(profiles["default-scheduler"])
        assert filters == wanted_filters
        assert {name: weight for name, (weight, _) in found.items()} == {k: w for k, (w, _) in wanted.items()}
        for name in ("NodeResourcesFit", "NodeResourcesBalancedAllocation", "InterPodAffinity", "PodTopologySpread"):
            assert found[name] == wanted[name]


def test_strategy_decides() -> None:
    """Packing fills the smallest node, the default spreads to the largest."""
    subject = pod("p", "2", "1Gi")
    assert best(model(kube(""), subject)) == ["c"]
    text = configured("NodeResourcesFit", "scoringStrategy: {type: MostAllocated, resources: [{name: cpu}]}")
    plugins = "  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}\n"
    assert best(model(text + plugins, subject)) == ["a"]


def test_a_weight_turns_a_decision() -> None:
    """A negative weight prefers what scores lowest, as in kube-scheduler."""
    both = "{name: ImageLocality, weight: 2}, {name: NodeResourcesFit, weight: -1}"
    text = with_plugins(f"score:\n  disabled: [{{name: '*'}}]\n  enabled: [{both}]")
    assert best(model(text, pod("p", "2", "1Gi"))) == ["a"]


REQUIRED = """\
addedAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [x]}]}]
"""


def test_added_affinity_filters() -> None:
    """A profile's required affinity holds for every pod, in the scheduler's own words."""
    found = model(configured("NodeAffinity", REQUIRED), pod("p"))
    assert best(found) == ["a"]
    verdict = found.verdict(0, Placement(found.columns))
    assert verdict.reasons(1) == ("node(s) didn't match scheduler-enforced node affinity",)


def test_added_affinity_beside_the_pods_own() -> None:
    """Both must hold."""
    own = NodeAffinityRules(required=(NodeSelectorTerm((Requirement("pool", "DoesNotExist"),)),))
    found = model(configured("NodeAffinity", REQUIRED), pod("p", node_affinity=own))
    assert best(found) == []


def test_added_preference_scores() -> None:
    """Preferred terms of the profile count beside the pod's own."""
    lines = """\
addedAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
  - {weight: 1, preference: {matchExpressions: [{key: pool, operator: Exists}]}}
"""
    zone = NodeSelectorTerm((Requirement("topology.kubernetes.io/zone", "In", ("z2",)),))
    own = NodeAffinityRules(preferred=(PreferredNodeTerm(4, zone),))
    text = configured("NodeAffinity", lines)
    assert scores(model(text, pod("p")))["NodeAffinity"] == [100, 0, 0]
    assert scores(model(text, pod("p", node_affinity=own)))["NodeAffinity"] == [25, 100, 100]
    assert scores(model(kube(""), pod("p")))["NodeAffinity"] == [0, 0, 0]


def test_scores_keep_their_configured_names() -> None:
    """Two scores of one kind do not hide each other."""
    text = "actions: allocate\ntiers: [{plugins: [{name: nodeorder, arguments: {mostrequested.weight: 1}}]}]\n"
    found = scores(model(text, pod("p", "2", "1Gi", scheduler_name="volcano")))
    assert found["leastrequested"] != found["mostrequested"]
    assert {"leastrequested", "mostrequested", "TaintToleration"} <= set(found)


def measured(seconds: float, *percents: float) -> UsageWindows:
    """Cpu load of the three nodes, read just now."""
    values = np.array(percents, dtype=np.float64)
    nothing = np.full(3, np.nan)
    both = Statistics(values, nothing, values, values, values)
    usage = Usage({"cpu": both, "memory": both}, np.full(3, NOW), np.full(3, seconds), np.ones(3, dtype=np.bool_))
    return UsageWindows({seconds: usage})


TRIMARAN = "score:\n  disabled: [{name: '*'}]\n  enabled: [{name: TargetLoadPacking}]"


def test_load_aware_scores_go_by_load() -> None:
    """With a window of measured load the score is that of the scheduler's own plugin."""
    found = model(with_plugins(TRIMARAN), pod("p", "100m"), windows=measured(600.0, 35.0, 80.0, 5.0))
    assert best(found) == ["a"]
    assert scores(found)["TargetLoadPacking"][1] < 20


def test_load_aware_scores_without_load() -> None:
    """Without any window requests stand in: scores are no zeros, and the fuller node within the target is better."""
    running = pod("q", "2", node="b")
    found = scores(model(with_plugins(TRIMARAN), pod("p", "100m"), running))["TargetLoadPacking"]
    assert min(found) > 0
    assert found[1] > found[2]


VOLCANO = "actions: allocate\ntiers: [{plugins: [{name: usage, arguments: {thresholds: {cpu: 50, mem: 90}}}]}]\n"
VOLCANO += "metrics: {type: prometheus, address: http://p}\n"


def test_thresholds_filter() -> None:
    """Nodes above Volcano's thresholds take no pods; without measured load none is refused."""
    subject = pod("p", "100m", scheduler_name="volcano")
    hot = model(VOLCANO, subject, windows=measured(600.0, 51.0, 50.0, 70.0))
    assert hot.feasible(0, Placement(hot.columns)).tolist() == [False, True, False]
    blind = model(VOLCANO, subject)
    assert blind.feasible(0, Placement(blind.columns)).tolist() == [True, True, True]
    assert any(isinstance(one, NodeUsageFilter) for one in hot.profiles["volcano"].filters)


def test_remarks() -> None:
    """A profile carries what makes its destinations estimates, and nothing else."""
    text = with_plugins("score:\n  enabled: [{name: Mine}]\npostFilter:\n  enabled: [{name: Other}]")
    profiles = scheduling_profiles(read(text), server_version=None, windows=None, node_count=3)
    assert profiles["default-scheduler"].remarks == (
        "Mine: not modelled: its score is unknown: destinations are estimates",
    )


def test_the_share_of_nodes_scored_reaches_the_prediction() -> None:
    """A profile's own share stands before the file's; 0 leaves it to the scheduler, which scores 100 nodes at least."""
    text = kube(
        "percentageOfNodesToScore: 70\n"
        "profiles: [{schedulerName: a}, {schedulerName: b, percentageOfNodesToScore: 90}, "
        "{schedulerName: c, percentageOfNodesToScore: 0}]\n"
    )
    columns = columns_of(
        cluster(*(node(f"n{number:03}") for number in range(200)), *(pod(name, scheduler_name=name) for name in "abcd"))
    )
    profiles = scheduling_profiles(read(text), server_version=None, windows=None, node_count=200)
    found = SchedulerModel(columns, profiles)
    assert [found.scored_count(number) for number in range(4)] == [140, 180, 100, None]
