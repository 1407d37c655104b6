"""Where schedulers are configured: files, ConfigMaps, names; what is refused, and what only warned of."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest

from tests.unit.adapters.api_objects import api_object
from tests.unit.cli.desk import KUBE, NODES, PACKING, STANDING, VOLCANO, Desk, waiting
from tests.unit.policy.policies import HEAD


def test_a_config_map_in_the_recording(desk: Desk) -> None:
    """The configuration may stand in the recording; one that does not is an error that tells how to add it."""
    entry = api_object("ConfigMap", "conf", namespace="kube-system", data={"config.yaml": KUBE + PACKING})
    other = api_object("ConfigMap", "conf", namespace="default", data={"x": "y"})
    desk.record(*NODES, *STANDING, waiting("packing"), entry, other)
    desk.policy("schedulers: [{configMap: kube-system/conf}]")
    assert desk.placed() == {"packing": "a"}
    desk.policy("schedulers: [{configMap: kube-system/conf2}]")
    answer = desk.run("plan")
    assert (answer.code, answer.out) == (1, "")
    assert "holds no ConfigMap kube-system/conf2, which the policy names under schedulers" in answer.err


def test_what_is_not_modelled_is_a_warning_for_each_pod_or_keeps_it_in_place(desk: Desk) -> None:
    """An unknown score makes destinations estimates; an unknown filter leaves nothing to be said."""
    desk.record(*NODES, waiting("guessing"), waiting("opaque"))
    desk.file("k.yaml", KUBE + dedent("""\
        profiles:
        - {schedulerName: guessing, plugins: {score: {enabled: [{name: Magic}]}}}
        - {schedulerName: opaque, plugins: {filter: {enabled: [{name: Magic}]}}}
        """))  # fmt: skip
    desk.policy("schedulers: [{file: k.yaml}]")
    answer = desk.run("schedule", "-o", "json")
    found = {item["pod"]["name"]: item for item in json.loads(answer.out)["pods"]}
    assert found["guessing"]["node"] is not None
    assert "Magic" in found["guessing"]["warnings"][0]
    assert found["opaque"]["node"] is None
    assert found["opaque"]["warnings"] == ["Magic: not modelled"]
    refused = json.loads(desk.run("plan", "-o", "json").out)["refusals"]
    assert [(item["rule"], item["pod"]["name"]) for item in refused] == [("UnmodelledPredicate", "opaque")]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (("profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
         "RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 50, score: 0}, "
         "{utilization: 50, score: 10}]}}}}]}]"),
         "utilization"),
        (("profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: "
         "RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 11}]}}}}]}]"), "11"),
        (("profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, "
         "resources: [{name: cpu, weight: -1}]}}}]}]"), "-1"),
        ("profiles: [{pluginConfig: [{name: TargetLoadPacking, args: {targetUtilization: 101}}]}]", "101"),
        ("profiles: [{schedulerName: a, plugins: 3}]", "plugins"),
        ("profiles: [{plugins: {score: {enabled: [{name: NodeAffinity, weight: '2'}]}}}]", "weight"),
        ("profiles: [{schedulerName: a}, {schedulerName: a}]", "schedulerName"),
        ("profile: []", "profile"),
        ("profiles: [", "k.yaml"),
        ("leaderElection: {leaderElect: 'true'}", "leaderElect"),
    ],
)  # fmt: skip
def test_a_scheduler_file_that_its_own_scheduler_refuses_is_an_error(desk: Desk, body: str, said: str) -> None:
    """Exit 2 with file and field, from ``plan`` and from ``check``, of the file and of the policy that names it."""
    path = desk.file("k.yaml", KUBE + body + "\n")
    desk.policy("schedulers: [{file: k.yaml}]")
    for answer in (desk.run("plan"), desk.shell("check", path), desk.shell("check", str(desk.folder / "policy.yaml"))):
        assert (answer.code, answer.out) == (2, "")
        assert said in answer.err
        assert "k.yaml" in answer.err
        assert len(answer.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ("schedulers: [{file: missing.yaml}]", ("schedulers[0].file: ", "missing.yaml cannot be read: No such file")),
        ("schedulers: [{schedulerName: x}, {file: .}]", ("schedulers[1].file: ", "is no file")),
        ("schedulers: [{file: binary.yaml}]", ("binary.yaml is no UTF-8 text (byte 3)",)),
        ("schedulers: [{file: large.yaml}]", ("large.yaml is larger than 256 KiB",)),
        ("schedulers: [{file: k.yaml}, {schedulerName: packing}]", ('"packing" is configured in', "already")),
        ("schedulers: [{file: cluster.json}]", ("cluster.json", "configures no scheduler")),
    ],
)
def test_a_source_that_cannot_be_used_is_wrong_use(desk: Desk, policy: str, said: tuple[str, ...]) -> None:
    """Exit 2: policy, field and file are named, before the cluster is read."""
    (desk.folder / "binary.yaml").write_bytes(b"abc\xff")
    desk.file("large.yaml", "#" * (256 * 1024 + 1))
    desk.file("k.yaml", KUBE + PACKING)
    desk.policy(policy)
    for answer in (desk.run("plan"), desk.shell("check", str(desk.folder / "policy.yaml"))):
        assert (answer.code, answer.out) == (2, "")
        assert all(text in answer.err for text in said), answer.err


@pytest.mark.parametrize("text", [KUBE, VOLCANO])
def test_a_large_scheduler_file_is_refused_as_such(desk: Desk, text: str) -> None:
    """Not as a policy with wrong fields; a policy may be larger, whatever stands in its comments."""
    answer = desk.shell("check", desk.file("k.yaml", f"{text}# {'x' * 300 * 1024}\n"))
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.endswith("k.yaml: is larger than 256 KiB; no scheduler's configuration is\n")
    policy = desk.file("policy.yaml", f"{HEAD}# kubescheduler.config.k8s.io tiers: {'x' * 300 * 1024}\n")
    assert desk.shell("check", policy).code == 0


def test_a_scheduler_file_in_place_of_a_policy_is_told_where_it_belongs(desk: Desk) -> None:
    """``--policy`` takes policies only, and an empty name names none."""
    answer = desk.shell("plan", "-f", str(desk.folder / "cluster.json"), "--policy", desk.file("k.yaml", KUBE))
    assert answer.code == 2
    assert (
        "kind: found a scheduler's configuration; name it in a policy, under schedulers: [{file: NAME}]" in answer.err
    )
    assert desk.shell("check", "").err == "an empty file name; name a policy file\n"


def test_corrections_and_resources_that_no_node_has_are_warnings(desk: Desk) -> None:
    """What the scheduler corrects, and a weighed resource that is nowhere, are told by each command."""
    desk.file("k.yaml", KUBE + dedent("""\
        profiles:
        - plugins: {score: {enabled: [{name: TargetLoadPacking, weight: 0}]}}
          pluginConfig:
          - {name: TargetLoadPacking, args: {targetUtilization: 0, watcherAddress: "http://w"}}
          - name: NodeResourcesFit
            args: {scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 1}]}}
        """))  # fmt: skip
    desk.policy("schedulers: [{file: k.yaml}]")
    for command in (["plan"], ["schedule"], ["score", "default/default-scheduler"], ["simulate"]):
        answer = desk.run(*command)
        assert answer.code == 0
        for said in ("weight", "40", 'NodeResourcesFit weighs "nvidia.com/gpu", which no node offers'):
            assert any(said in line for line in answer.err.splitlines() if line.startswith("warning: ")), said


def test_check_tells_what_a_file_means(desk: Desk) -> None:
    """Profiles, scores with weights, what is not modelled and what that means; several files at once."""
    path = desk.file(
        "k.yaml", KUBE + PACKING + "- {schedulerName: odd, plugins: {filter: {enabled: [{name: Magic}]}}}\n"
    )
    volcano = desk.file("volcano.conf", VOLCANO)
    desk.policy("schedulers: [{file: volcano.conf}, {configMap: a/b}, {schedulerName: x}]")
    answer = desk.shell("check", path, volcano, str(desk.folder / "policy.yaml"))
    assert answer.code == 0
    flat = " ".join(answer.out.split())
    for said in (
        f"{path} is valid. Scheduler default-scheduler (KubeSchedulerConfiguration v1):",
        "Scheduler packing (KubeSchedulerConfiguration v1):",
        "MostAllocated of cpu 1",
        "Magic: not modelled, and it filters nodes",
        "predictions: none; its pods are never moved",
        "keeps pods off nodes with measured load above cpu 80 %",
        "reads schedulers from ConfigMap a/b, which is checked when it is read",
        "Scheduler x (kube-scheduler's defaults):",
    ):
        assert said in flat
    assert "Magic" in answer.err


def test_a_later_policy_replaces_the_list_and_files_are_beside_their_own_policy(desk: Desk) -> None:
    """Lists are replaced whole; each policy's files are looked for in its own folder."""
    (desk.folder / "sub").mkdir()
    desk.file("sub/k.yaml", KUBE + PACKING)
    desk.file("sub/more.yaml", HEAD + "schedulers: [{file: k.yaml}]\n")
    desk.policy("schedulers: [{file: missing.yaml}]")
    answer = desk.run("schedule", "-o", "json", "--policy", str(desk.folder / "sub" / "more.yaml"))
    assert "missing.yaml cannot be read" in answer.err  # the first policy is given last here, and wins
    given = ["--policy", str(desk.folder / "policy.yaml"), "--policy", str(desk.folder / "sub" / "more.yaml")]
    found = desk.shell("schedule", "-o", "json", "-f", str(desk.folder / "cluster.json"), *given)
    assert {item["pod"]["name"]: item["node"] for item in json.loads(found.out)["pods"]}["packing"] == "a"
