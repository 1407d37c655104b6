"""KubeSchedulerConfiguration as a whole: versions, names, profiles, and what decides nothing."""

from __future__ import annotations

import pytest

from tests.unit.scheduling.configuration.reading import kube, only, read, refusal, weights

# As kube-scheduler 1.36 writes its defaults out.
_TODAY = {
    "SchedulingGates": 0, "PrioritySort": 0, "NodeUnschedulable": 0, "NodeName": 0, "TaintToleration": 3,
    "NodeAffinity": 2, "NodePorts": 0, "NodeResourcesFit": 1, "VolumeRestrictions": 0, "NodeVolumeLimits": 0,
    "VolumeBinding": 0, "VolumeZone": 0, "PodTopologySpread": 2, "InterPodAffinity": 2, "DynamicResources": 2,
    "DefaultPreemption": 0, "NodeResourcesBalancedAllocation": 1, "ImageLocality": 1, "DefaultBinder": 0,
    "NodeDeclaredFeatures": 0,
}  # fmt: skip
EVERYTHING_ELSE = """\
leaderElection: {leaderElect: false, leaseDuration: 15s}
clientConnection: {kubeconfig: /etc/x, qps: 50}
parallelism: 32
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 60
enableProfiling: false
delayCacheUntilActive: true
"""


def test_what_decides_nothing_is_read_past() -> None:
    """Fields about the process are accepted without a word."""
    assert not read(kube(EVERYTHING_ELSE)).warnings


@pytest.mark.parametrize(
    ("version", "since"), [("v1beta3", 29), ("v1beta2", 28), ("v1beta1", 23), ("v1alpha2", 20), ("v1alpha1", 19)]
)
def test_versions_that_are_gone(version: str, since: int) -> None:
    """Earlier versions are read, and the first release that refuses them is named."""
    (warning,) = read(kube("", version)).warnings
    assert f"kube-scheduler 1.{since} and newer refuse {version}" in warning
    assert warning.startswith("conf:1:13: apiVersion")


def test_names_of_profiles() -> None:
    """Each profile stands under its name; the only one without a name is the default scheduler's, or the one given."""
    text = kube("profiles: [{schedulerName: a}, {schedulerName: b}]")
    assert list(read(text).profiles) == ["a", "b"]
    assert list(read(kube("")).profiles) == ["default-scheduler"]
    assert list(read(kube("profiles: [{}]"), "mine").profiles) == ["mine"]


def test_share_of_nodes() -> None:
    """A profile's own percentage goes before the file's."""
    text = kube(
        "percentageOfNodesToScore: 50\nprofiles: [{schedulerName: a, percentageOfNodesToScore: 70}, {schedulerName: b}]"
    )
    assert {name: p.percentage_of_nodes_to_score for name, p in read(text).profiles.items()} == {"a": 70, "b": 50}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("profiles: [{schedulerName: a}, {schedulerName: a}]", 'a second profile named "a"; keep one'),
        ("profiles: [{schedulerName: a}, {}]", "profiles[1]: schedulerName is missing"),
        ("profiles: [{schedulerName: ''}]", "profiles[0]: schedulerName is missing"),
        ("percentageOfNodesToScore: 101", "found 101; wanted 0 to 100"),
        ("percentageOfNodesToScore: -1", "found -1; wanted 0 to 100"),
        ("percentageOfNodesToScore: .nan", "found nan; wanted a whole number"),
        ("percentageOfNodesToScore: 1.5", "found 1.5; wanted a whole number"),
        ("parallelism: 0", "found 0; wanted 1 or more"),
        ("podInitialBackoffSeconds: 20", "less than podInitialBackoffSeconds, which is 20"),
        ("leaderElection: {leaderElect: 'false'}", "found 'false'; wanted true or false, without quotes"),
        ("enableProfiling: 'yes'", "found 'yes'; wanted true or false, without quotes"),
        ("profile: []", "did you mean profiles?"),
        ("parallelism: 4\nparallelism: 5", "the same field twice, at lines 3 and 4"),
        ("profiles: {}", "profiles: found a map; wanted a list"),
        ("profiles: [x]", "profiles[0]: found 'x'; wanted a map"),
        ("profiles: [{schedulerName: a, schedulername: b}]", "did you mean schedulerName?"),
        ("profiles: [{pluginConfig: [{name: NodeAffinity}, {name: NodeAffinity}]}]", "a second configuration of"),
        ("profiles: [{pluginConfig: [{name: NodeLabel, args: {}}]}]", "NodeLabel was removed before v1"),
        (
            "profiles: [{schedulerName: a}, {schedulerName: b, plugins: {queueSort: {disabled: [{name: '*'}]}}}]",
            "profiles[1] and profiles[0] sort the queue differently",
        ),
        (
            "profiles: [{pluginConfig: [{name: NodeAffinity, args: {kind: NodeAffinity}}]}]",
            'found "NodeAffinity"; wanted NodeAffinityArgs',
        ),
        (
            "profiles: [{pluginConfig: [{name: NodeAffinity, args: {apiVersion: v1}}]}]",
            "write the apiVersion of the whole file, or leave it out",
        ),
    ],
)
def test_what_is_refused(body: str, said: str) -> None:
    """What kube-scheduler would not start with is an error that names file, line and field."""
    text = refusal(kube(body))
    assert said in text
    assert text.startswith("conf:")


def test_everything_wrong_is_told_at_once() -> None:
    """All problems of a file come in one error, in its order."""
    text = refusal(kube("parallelism: 0\npercentageOfNodesToScore: 200\nspeed: 5\n"))
    assert [line.partition(" ")[0] for line in text.splitlines()] == ["conf:3:14:", "conf:4:27:", "conf:5:1:"]


def test_an_unknown_version_or_kind() -> None:
    """The versions that there are, or the kind that is wanted, are named."""
    assert "did you mean kubescheduler.config.k8s.io/v1beta3?" in refusal(kube("", "v1beta9"))
    text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfig\n"
    assert 'found "KubeSchedulerConfig"; wanted KubeSchedulerConfiguration' in refusal(text)


def test_a_name_for_a_file_that_names_its_own() -> None:
    """A schedulerName in the policy that the file does not have is a contradiction."""
    text = kube("profiles: [{schedulerName: a}, {schedulerName: b}]")
    assert "the file names its schedulers itself: a, b; leave schedulerName c out" in refusal(text, "c")
    assert list(read(text, "b").profiles) == ["a", "b"]


def test_arguments_of_unknown_plugins() -> None:
    """They are not looked into."""
    (warning,) = read(kube("profiles: [{pluginConfig: [{name: Mine, args: {a: [1]}}]}]")).warnings
    assert "no plugin that is known" in warning


def test_arguments_of_no_plugin() -> None:
    """kube-scheduler takes an entry without a name, which configures nothing."""
    (warning,) = read(kube("profiles: [{pluginConfig: [{args: {}}]}]")).warnings
    assert "name is missing, so it configures nothing" in warning


def test_what_the_scheduler_writes_itself() -> None:
    """A file with every default written out says the same as one that leaves them out."""
    written = (
        "plugins: {multiPoint: {enabled: ["
        + ", ".join(f"{{name: {name}, weight: {weight}}}" for name, weight in _TODAY.items())
        + "]}, placementGenerate: {}, placementScore: {}}"
    )
    found = read(kube(f"profiles: [{{{written}}}]"))
    assert found.profiles == read(kube("")).profiles
    assert not found.warnings


def test_first_alpha() -> None:
    """v1alpha1 configures one scheduler at its top level; its autoscaler provider packs."""
    body = "schedulerName: old\nhardPodAffinitySymmetricWeight: 7\n"
    profile = only(kube(f"{body}algorithmSource: {{provider: ClusterAutoscalerProvider}}\n", "v1alpha1"))
    assert profile.scheduler_name == "old"
    assert weights(profile)["NodeResourcesMostAllocated"] == 1
    (affinity,) = (score.score for score in profile.scores if score.plugin == "InterPodAffinity")
    assert getattr(affinity, "hard_weight", None) == 7


def test_first_alpha_that_points_elsewhere() -> None:
    """A policy in another file cannot be read from here."""
    text = kube("algorithmSource: {policy: {file: {path: /etc/policy.json}}}", "v1alpha1")
    assert "is another file; name that file in the policy's schedulers instead" in refusal(text)
