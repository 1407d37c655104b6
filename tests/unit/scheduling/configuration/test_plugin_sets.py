"""Which plugins run where: defaults by version, changes, multiPoint."""

from __future__ import annotations

import pytest

from tests.unit.scheduling.configuration.reading import kube, only, read, refusal, weights, with_plugins

FILTERS = (
    "SchedulingGates", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts",
    "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
    "InterPodAffinity",
)  # fmt: skip
TODAY = {
    "TaintToleration": 3, "NodeAffinity": 2, "NodeResourcesFit": 1, "PodTopologySpread": 2, "InterPodAffinity": 2,
    "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1,
}  # fmt: skip
EARLIER = {**TODAY, "TaintToleration": 1, "NodeAffinity": 1, "InterPodAffinity": 1}


@pytest.mark.parametrize("version", ["v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1"])
def test_default_filters(version: str) -> None:
    """A file that changes nothing has the same filters in every version, in the scheduler's order."""
    assert only(kube("", version)).filters == FILTERS


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        ("v1", TODAY),
        ("v1beta3", TODAY),
        ("v1beta2", EARLIER),
        ("v1beta1", {k: v for k, v in EARLIER.items() if k != "NodeResourcesFit"} | {"NodeResourcesLeastAllocated": 1}),
    ],
)
def test_default_weights(version: str, wanted: dict[str, int]) -> None:
    """Weights of v1 and v1beta3 differ from those of earlier versions."""
    assert weights(only(kube("", version))) == wanted


def test_all_scores_switched_off() -> None:
    """``*`` leaves the scores that are named, and touches no filter."""
    profile = only(with_plugins("score:\n  enabled: [{name: ImageLocality, weight: 7}]\n  disabled: [{name: '*'}]"))
    assert weights(profile) == {"ImageLocality": 7}
    assert profile.filters == FILTERS


def test_a_default_with_another_weight() -> None:
    """A default that is written again at the score point has the new weight there."""
    profile = only(with_plugins("score:\n  enabled: [{name: NodeAffinity, weight: 9}]"))
    assert weights(profile) == {**TODAY, "NodeAffinity": 9}


def test_a_default_switched_off_for_all_points() -> None:
    """What multiPoint switches off neither filters nor scores."""
    profile = only(with_plugins("multiPoint:\n  disabled: [{name: InterPodAffinity}]"))
    assert "InterPodAffinity" not in profile.filters
    assert "InterPodAffinity" not in weights(profile)


def test_a_default_switched_off_at_one_point() -> None:
    """What the score point switches off still filters."""
    profile = only(with_plugins("score:\n  disabled: [{name: TaintToleration}]"))
    assert "TaintToleration" in profile.filters
    assert "TaintToleration" not in weights(profile)


def test_multi_point_alone() -> None:
    """With ``*`` switched off for all points, only what multiPoint names runs, where it can stand."""
    named = "{name: PrioritySort}, {name: NodeName}, {name: NodeAffinity, weight: 4}, {name: DefaultBinder}"
    profile = only(with_plugins(f"multiPoint:\n  disabled: [{{name: '*'}}]\n  enabled: [{named}]"))
    assert profile.filters == ("NodeName", "NodeAffinity")
    assert weights(profile) == {"NodeAffinity": 4}


def test_the_score_point_goes_before_multi_point() -> None:
    """Of two weights the one at the score point counts."""
    plugins = "multiPoint:\n  enabled: [{name: NodeAffinity, weight: 4}]\n"
    plugins += "score:\n  enabled: [{name: NodeAffinity, weight: 6}]"
    assert weights(only(with_plugins(plugins)))["NodeAffinity"] == 6


def test_order_of_filters() -> None:
    """Plugins named at the point and by multiPoint come first, then the rest of multiPoint."""
    profile = only(with_plugins("filter:\n  enabled: [{name: NodePorts}, {name: NodeName}]"))
    assert profile.filters[:4] == ("SchedulingGates", "NodePorts", "NodeName", "NodeUnschedulable")


def test_filters_switched_off_and_one_back_on() -> None:
    """At one point ``*`` leaves those that are named there."""
    profile = only(with_plugins("filter:\n  disabled: [{name: '*'}]\n  enabled: [{name: NodeResourcesFit}]"))
    assert profile.filters == ("SchedulingGates", "NodeResourcesFit")


def test_weight_of_zero() -> None:
    """kube-scheduler makes 1 of a weight of 0; the warning says how to switch a score off."""
    configuration = read(with_plugins("score:\n  enabled:\n  - {name: ImageLocality, weight: 0}"))
    assert weights(configuration.profiles["default-scheduler"])["ImageLocality"] == 1
    (warning,) = configuration.warnings
    assert warning == (
        "conf:7:39: profiles[0].plugins.score.enabled[0].weight: a weight of 0 for ImageLocality counts as 1; "
        "to switch it off, write it under score.disabled"
    )


def test_no_weight_is_no_mistake() -> None:
    """A weight that is left out counts as 1 without a word."""
    configuration = read(with_plugins("score:\n  enabled: [{name: ImageLocality}]"))
    assert weights(configuration.profiles["default-scheduler"])["ImageLocality"] == 1
    assert not configuration.warnings


@pytest.mark.parametrize(
    "plugins",
    [
        (
            "score:\n  disabled: [{name: '*'}]\n"
            "  enabled: [{name: NodeAffinity, weight: 5}, {name: ImageLocality, weight: -2}]"
        ),
        "score:\n  enabled: [{name: NodeAffinity, weight: 2}, {name: ImageLocality, weight: -2}]",
        "multiPoint:\n  enabled: [{name: ImageLocality, weight: -2}]",
    ],
)
def test_a_negative_weight_that_is_taken(plugins: str) -> None:
    """kube-scheduler takes a negative weight, which turns the score round, while the sum so far is not below 0."""
    configuration = read(with_plugins(plugins))
    assert weights(configuration.profiles["default-scheduler"])["ImageLocality"] == -2
    (warning,) = configuration.warnings
    assert "makes ImageLocality prefer the nodes that it scores lowest" in warning


@pytest.mark.parametrize(
    "plugins",
    [
        "score:\n  enabled: [{name: ImageLocality, weight: -2}]",
        "score:\n  disabled: [{name: '*'}]\n  enabled: [{name: ImageLocality, weight: -2}]",
        "score:\n  enabled: [{name: NodeAffinity, weight: 1}, {name: ImageLocality, weight: -2}]",
    ],
)
def test_a_negative_weight_that_is_refused(plugins: str) -> None:
    """Below 0, kube-scheduler's own test of the sum overflows, so that it does not start."""
    assert "weight: found -2; kube-scheduler takes a sum below 0 for an overflow" in refusal(with_plugins(plugins))


def test_one_queue_sort_and_a_binding() -> None:
    """A profile needs one plugin that sorts the queue and one that binds."""
    assert "0 plugins sort the queue" in refusal(with_plugins("queueSort:\n  disabled: [{name: '*'}]"))
    assert "2 plugins sort the queue" in refusal(with_plugins("queueSort:\n  enabled: [{name: QOSSort}]"))
    assert "no plugin binds pods" in refusal(with_plugins("bind:\n  disabled: [{name: '*'}]"))


@pytest.mark.parametrize(
    ("plugins", "said"),
    [
        ("score:\n  enabled: [{name: NodeName}]", "NodeName does not stand at score; it stands at filter"),
        ("score:\n  enabled: [{name: ImageLocality}, {name: ImageLocality}]", '"ImageLocality" is enabled twice'),
        ("score:\n  enabled: [{name: '*'}]", 'found "*"; wanted the name of one plugin'),
        ("score:\n  enabled: [{weight: 1}]", 'found ""; wanted the name of one plugin'),
        ("score:\n  enabled: [{name: NodeLabel}]", "NodeLabel was removed before v1"),
        ("score:\n  enable: [{name: NodeName}]", "did you mean enabled?"),
        ("scores: {}", "a field that kube-scheduler does not know; did you mean score?"),
        ("score:\n  enabled: [{name: ImageLocality, weight: '3'}]", "found '3'; wanted a whole number"),
        ("score:\n  enabled: [{name: ImageLocality, weight: 99999999999}]", "wanted a whole number"),
        ("score: []", "found a list; wanted a map"),
        ("score:\n  enabled: {name: X}", "found a map; wanted a list"),
        ("score:\n  enabled: [ImageLocality]", "found 'ImageLocality'; wanted a map"),
    ],
)
def test_plugins_that_are_refused(plugins: str, said: str) -> None:
    """What kube-scheduler would not start with is an error that names the place."""
    text = refusal(with_plugins(plugins))
    assert said in text
    assert text.startswith("conf:")
    assert "profiles[0].plugins" in text


def test_multi_point_is_newer_than_the_first_beta() -> None:
    """v1beta1 knows no multiPoint."""
    assert "multiPoint" in refusal(with_plugins("multiPoint: {}", "v1beta1"))


def test_removed_plugins_in_the_first_beta() -> None:
    """v1beta1 had single plugins for each strategy of resources."""
    text = with_plugins("score:\n  enabled: [{name: NodeResourcesMostAllocated, weight: 5}]", "v1beta1")
    assert weights(only(text))["NodeResourcesMostAllocated"] == 5
