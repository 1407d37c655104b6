"""Arguments of kube-scheduler's own plugins."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import (
    NodeAffinityRules,
    NodeSelectorTerm,
    PreferredNodeTerm,
    Requirement,
    TopologySpreadConstraint,
)
from rescheduler.scheduling.scores.inter_pod_affinity import InterPodAffinity
from rescheduler.scheduling.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from rescheduler.scheduling.scores.volume_binding import VolumeBinding
from tests.unit.scheduling.configuration.reading import argument, configured, kube, only, read, refusal, weights

RATIO = """\
scoringStrategy:
  type: RequestedToCapacityRatio
  resources: [{name: nvidia.com/gpu, weight: 5}, {name: cpu}]
  requestedToCapacityRatio:
    shape: SHAPE
"""


def ratio(shape: str) -> str:
    """NodeResourcesFit by this shape."""
    return configured("NodeResourcesFit", RATIO.replace("SHAPE", shape))


def test_capacity_ratio() -> None:
    """Weights and shape arrive in the score; a weight that is left out is 1."""
    shape = "[{utilization: 0, score: 0}, {utilization: 70, score: 10}]"
    wanted = NodeResourcesFit("RequestedToCapacityRatio", (("nvidia.com/gpu", 5), ("cpu", 1)), ((0, 0), (70, 10)))
    assert argument(only(ratio(shape)), "NodeResourcesFit") == wanted


def test_most_allocated_with_default_resources() -> None:
    """Without resources cpu and memory count."""
    text = configured("NodeResourcesFit", "scoringStrategy: {type: MostAllocated}")
    assert argument(only(text), "NodeResourcesFit") == NodeResourcesFit("MostAllocated", (("cpu", 1), ("memory", 1)))


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (
            "[{utilization: 100, score: 10}, {utilization: 0, score: 0}]",
            "utilization 0 stands after 100; kube-scheduler wants utilization strictly increasing",
        ),
        ("[{utilization: 5, score: 1}, {utilization: 5, score: 2}]", "utilization 5 stands after 5"),
        ("[{utilization: 0, score: 11}]", "shape[0].score: found 11; wanted 0 to 10"),
        ("[{utilization: 0, score: -1}]", "shape[0].score: found -1; wanted 0 to 10"),
        ("[{utilization: 101, score: 1}]", "shape[0].utilization: found 101; wanted 0 to 100"),
        ("[{utilization: 0, score: '5'}]", "found '5'; wanted a whole number"),
        ("[{utilization: .inf, score: 5}]", "found inf; wanted a whole number"),
        ("[{utilisation: 0, score: 5}]", "did you mean utilization?"),
        ("[]", "found no point; give at least one"),
    ],
)
def test_shapes_that_are_refused(shape: str, said: str) -> None:
    """A shape that kube-scheduler refuses is an error; it sorts nothing."""
    assert said in refusal(ratio(shape))


def test_a_utilization_that_cannot_be_read_is_told_once() -> None:
    """Not as a point out of order too; those that can be read must rise all the same."""
    found = refusal(ratio("[{utilization: 50, score: 0}, {utilization: 101, score: 5}, {utilization: '9', score: 6}]"))
    assert [line.partition(": ")[2].partition(": ")[2] for line in found.splitlines()] == [
        "found 101; wanted 0 to 100",
        "found '9'; wanted a whole number",
    ]
    found = refusal(ratio("[{utilization: 50, score: 0}, {utilization: 101, score: 5}, {utilization: 9, score: 6}]"))
    assert "shape[2]: utilization 9 stands after 50" in found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("scoringStrategy: {type: MostAlocated}", "did you mean MostAllocated?"),
        ("scoringStrategy: {}", "found nothing; there are LeastAllocated, MostAllocated, RequestedToCapacityRatio"),
        ("scoringStrategy: {type: RequestedToCapacityRatio}", "requestedToCapacityRatio is missing"),
        ("scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: -1}]}", "found -1; wanted 1 to 100"),
        ("scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 101}]}", "found 101; wanted 1 to 100"),
        ("ignoredResources: ['a b']", 'found "a b"; wanted the name of a resource'),
        ("ignoredResourceGroups: [example.com/x]", "a group is what stands before the slash"),
        ("ignoredResources: [5]", "ignoredResources[0]: found 5; wanted a text"),
        ("hardPodAffinityWeight: 1", "a field that kube-scheduler does not know"),
    ],
)
def test_fit_arguments_that_are_refused(arguments: str, said: str) -> None:
    """Strategies, weights and names are checked as kube-scheduler checks them."""
    assert said in refusal(configured("NodeResourcesFit", arguments))


def test_resource_weight_of_zero() -> None:
    """kube-scheduler makes 1 of it."""
    text = configured("NodeResourcesFit", "scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 0}]}")
    assert argument(only(text), "NodeResourcesFit") == NodeResourcesFit("MostAllocated", (("cpu", 1),))
    assert 'a weight of 0 for "cpu" counts as 1' in read(text).warnings[0]


def test_a_resource_twice() -> None:
    """kube-scheduler counts both of its weights."""
    lines = "scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 2}, {name: cpu, weight: 3}]}"
    text = configured("NodeResourcesFit", lines)
    assert argument(only(text), "NodeResourcesFit") == NodeResourcesFit("MostAllocated", (("cpu", 2), ("cpu", 3)))
    assert '"cpu" is given twice, so both of its weights count' in read(text).warnings[0]


def test_strategies_are_newer_than_the_first_beta() -> None:
    """v1beta1 knows no scoringStrategy, but a plugin for each strategy."""
    body = (
        "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated}}\n"
    )
    assert "a field that kube-scheduler does not know" in refusal(kube(body, "v1beta1"))


def test_capacity_ratio_in_the_first_beta() -> None:
    """It was a plugin of its own."""
    body = """\
profiles:
- plugins:
    score:
      enabled: [{name: RequestedToCapacityRatio, weight: 3}]
      disabled: [{name: NodeResourcesLeastAllocated}]
  pluginConfig:
  - name: RequestedToCapacityRatio
    args: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}], resources: [{name: a.b/c, weight: 9}]}
"""
    found = argument(only(kube(body, "v1beta1")), "RequestedToCapacityRatio")
    assert found == NodeResourcesFit("RequestedToCapacityRatio", (("a.b/c", 9),), ((0, 0), (100, 10)))


def test_capacity_ratio_without_a_shape() -> None:
    """The plugin of v1beta1 has no default shape."""
    body = "profiles: [{plugins: {score: {enabled: [{name: RequestedToCapacityRatio}]}}}]"
    assert "RequestedToCapacityRatio scores without a shape" in refusal(kube(body, "v1beta1"))


def test_balanced_allocation() -> None:
    """Each resource counts once, with weight 1."""
    text = configured(
        "NodeResourcesBalancedAllocation", "resources: [{name: cpu, weight: 1}, {name: a.b/c, weight: 1}]"
    )
    wanted = NodeResourcesBalancedAllocation((("cpu", 1), ("a.b/c", 1)))
    assert argument(only(text), "NodeResourcesBalancedAllocation") == wanted
    assert "found 2; wanted 1" in refusal(text.replace("weight: 1}]", "weight: 2}]"))
    assert '"cpu" is given twice' in refusal(text.replace("a.b/c", "cpu"))


def test_what_the_filter_ignores() -> None:
    """Ignored resources and groups are kept with the profile."""
    profile = only(configured("NodeResourcesFit", "ignoredResources: [a.b/c]\nignoredResourceGroups: [x.y]"))
    assert (profile.ignored_resources, profile.ignored_resource_groups) == (("a.b/c",), ("x.y",))


def test_inter_pod_affinity() -> None:
    """The weight of required affinity is 0 to 100."""
    text = configured("InterPodAffinity", "hardPodAffinityWeight: 0\nignorePreferredTermsOfExistingPods: true")
    assert argument(only(text), "InterPodAffinity") == InterPodAffinity(0, ignores_wishes_of_others=True)
    assert "found 101; wanted 0 to 100" in refusal(text.replace("Weight: 0", "Weight: 101"))


def test_default_constraints() -> None:
    """A list of an operator's own takes the place of the built-in ones."""
    lines = (
        "defaultingType: List\ndefaultConstraints: [{topologyKey: zone, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]"
    )
    profile = only(configured("PodTopologySpread", lines))
    assert profile.default_constraints == (TopologySpreadConstraint("zone", 2, "DoNotSchedule"),)
    assert profile.has_own_defaults


def test_no_default_constraints() -> None:
    """An empty list switches the built-in constraints off."""
    profile = only(configured("PodTopologySpread", "defaultingType: List"))
    assert profile.default_constraints == ()


CONSTRAINT = "{topologyKey: zone, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway}"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (f"defaultConstraints: [{CONSTRAINT}]", "given without defaultingType: List; kube-scheduler refuses that"),
        (f"defaultingType: List\ndefaultConstraints: [{CONSTRAINT}, {CONSTRAINT}]", "is given twice"),
        ("defaultingType: Lists", "did you mean List?"),
        (f"defaultingType: List\ndefaultConstraints: [{CONSTRAINT.replace('1', '0')}]", "found 0; wanted 1 or more"),
        (f"defaultingType: List\ndefaultConstraints: [{CONSTRAINT.replace('zone', '')}]", "topologyKey is missing"),
        (f"defaultingType: List\ndefaultConstraints: [{CONSTRAINT.replace('Anyway', '')}]", "there are DoNotSchedule"),
        (
            f"defaultingType: List\ndefaultConstraints: [{CONSTRAINT[:-1]}, labelSelector: {{}}}}]",
            "labelSelector: not allowed here",
        ),
    ],
)
def test_default_constraints_that_are_refused(lines: str, said: str) -> None:
    """Constraints are checked as kube-scheduler checks them."""
    text = configured("PodTopologySpread", lines)
    if "there are DoNotSchedule" in said:
        assert 'found "Schedule"' in refusal(text)
    else:
        assert said in refusal(text)


def test_constraints_in_the_first_beta() -> None:
    """There, constraints that are given need no type."""
    body = (
        f"profiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args: {{defaultConstraints: [{CONSTRAINT}]}}\n"
    )
    assert only(kube(body, "v1beta1")).has_own_defaults


AFFINITY = """\
addedAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
    - matchExpressions: [{key: pool, operator: In, values: [a, b]}]
      matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]
  preferredDuringSchedulingIgnoredDuringExecution:
  - weight: 3
    preference: {matchExpressions: [{key: size, operator: Gt, values: ["4"]}]}
"""


def test_added_affinity() -> None:
    """Required and preferred terms are kept with the profile."""
    required = NodeSelectorTerm(
        (Requirement("pool", "In", ("a", "b")),), (Requirement("metadata.name", "NotIn", ("n1",)),)
    )
    preferred = PreferredNodeTerm(3, NodeSelectorTerm((Requirement("size", "Gt", ("4",)),)))
    assert only(configured("NodeAffinity", AFFINITY)).added_affinity == NodeAffinityRules((required,), (preferred,))
    assert only(kube("")).added_affinity is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("operator: In,", "operator: Inn,", "did you mean In?"),
        ("values: [a, b]", "values: []", "In needs values"),
        ("operator: In,", "operator: Exists,", "Exists takes no values"),
        ('["4"]', '["four"]', "Gt takes exactly one value, a whole number in quotes"),
        ('["4"]', "[4]", "found 4; wanted a text"),
        ("metadata.name", "metadata.uid", "there is only metadata.name"),
        ("[n1]", "[n1, n2]", "NotIn takes exactly one value here"),
        ("nodeSelectorTerms", "nodeSelectorTerm", "did you mean nodeSelectorTerms?"),
        ("key: pool, ", "", "key is missing"),
        ("key: pool", "key: a b", 'found "a b"; wanted a label\'s key'),
    ],
)
def test_added_affinity_that_is_refused(old: str, new: str, said: str) -> None:
    """Selector terms are checked as kube-scheduler checks them."""
    assert said in refusal(configured("NodeAffinity", AFFINITY.replace(old, new)))


def test_volume_binding() -> None:
    """Its time-out decides nothing; a shape says that its gate is on, and then it scores."""
    assert not read(configured("VolumeBinding", "bindTimeoutSeconds: 60")).warnings
    assert "found -1; wanted 0 or more" in refusal(configured("VolumeBinding", "bindTimeoutSeconds: -1"))
    text = configured("VolumeBinding", "shape: [{utilization: 0, score: 0}, {utilization: 100, score: 5}]")
    (warning,) = read(text).warnings
    assert "kube-scheduler refuses it unless its gate StorageCapacityScoring is on" in warning
    assert argument(only(text), "VolumeBinding") == VolumeBinding(((0, 0), (100, 5)))
    assert weights(only(text))["VolumeBinding"] == 1
    assert "VolumeBinding" not in weights(only(kube("")))


def test_a_resource_without_a_name() -> None:
    """kube-scheduler takes it; no node offers it."""
    text = configured(
        "NodeResourcesFit", "scoringStrategy: {type: MostAllocated, resources: [{weight: 1}, {name: cpu}]}"
    )
    assert argument(only(text), "NodeResourcesFit") == NodeResourcesFit("MostAllocated", (("cpu", 1),))
    assert "name is missing, so no node offers it" in read(text).warnings[0]


def test_default_preemption() -> None:
    """It decides nothing here; what kube-scheduler refuses is refused."""
    assert not read(configured("DefaultPreemption", "minCandidateNodesPercentage: 50")).warnings
    assert "found 101; wanted 0 to 100" in refusal(configured("DefaultPreemption", "minCandidateNodesPercentage: 101"))
    both = "minCandidateNodesPercentage: 0\nminCandidateNodesAbsolute: 0"
    assert "wants one of them above 0" in refusal(configured("DefaultPreemption", both))
