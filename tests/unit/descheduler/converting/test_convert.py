"""A DeschedulerPolicy converted: one golden file a plugin, and whatever is converted passes as a policy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.daemon.plugins import parse_policy
from rescheduler.descheduler.converting.convert import converted
from rescheduler.descheduler.plugins import PLUGINS
from rescheduler.descheduler.reading.policy_file import read_descheduler_policy
from rescheduler.policy.fields.policy import Mode, Policy
from rescheduler.policy.reading.errors import PolicyError

GOLDEN = Path(__file__).parent / "golden"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

CASES: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]] = {
    "default-evictor": (
        {"nodeSelector": "pool in (a,b)", "gracePeriodSeconds": 10, "evictionFailureEventNotification": True,
         "maxNoOfPodsToEvictPerNode": 2, "maxNoOfPodsToEvictPerNamespace": 3, "maxNoOfPodsToEvictTotal": 10},
        {"DefaultEvictor": {
            "nodeSelector": "pool=a", "nodeFit": True, "minReplicas": 3, "minPodAge": "1h", "labelSelector": {
                "matchLabels": {"app": "web"}}, "namespaceLabelSelector": {"matchExpressions": [
                    {"key": "team", "operator": "Exists"}]}, "priorityThreshold": {"value": 1000},
            "noEvictionPolicy": "Mandatory", "podProtections": {
                "defaultDisabled": ["PodsWithLocalStorage", "DaemonSetPods", "SystemCriticalPods", "FailedBarePods"],
                "extraEnabled": ["PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims"],
                "config": {"PodsWithPVC": {"protectedStorageClasses": [{"name": "fast"}]}}}},
         "RemovePodsViolatingNodeTaints": {}},
    ),
    "deprecated-evictor": (
        {}, {"DefaultEvictor": {"evictLocalStoragePods": True, "ignorePvcPods": True, "priorityThreshold": {
            "name": "gold"}}, "RemovePodsViolatingNodeTaints": {}},
    ),
    "low-node-utilization": ({"metricsProviders": [{"source": "KubernetesMetrics"}]}, {"LowNodeUtilization": {
        "thresholds": {"cpu": 20, "memory": 20}, "targetThresholds": {"cpu": 50, "memory": 60.5}, "numberOfNodes": 3,
        "evictableNamespaces": {"exclude": ["team-a"]}, "evictionLimits": {"node": 4},
        "metricsUtilization": {"source": "KubernetesMetrics"}}}),
    "low-node-utilization-deviation": ({}, {"LowNodeUtilization": {
        "thresholds": {"cpu": 10}, "targetThresholds": {"cpu": 15}, "useDeviationThresholds": True}}),
    "low-node-utilization-prometheus": (
        {"metricsProviders": [{"source": "Prometheus", "prometheus": {"url": "http://prometheus:9090", "authToken": {
            "secretReference": {"namespace": "monitoring", "name": "token"}}}}]},
        {"LowNodeUtilization": {"thresholds": {"MetricResource": 20}, "targetThresholds": {"MetricResource": 70},
                                "metricsUtilization": {"source": "Prometheus", "prometheus": {"query": "q"}}}},
    ),
    "high-node-utilization": ({}, {"HighNodeUtilization": {
        "thresholds": {"cpu": 20}, "numberOfNodes": 1, "evictionModes": ["OnlyThresholdingResources"]}}),
    "remove-duplicates": ({}, {"RemoveDuplicates": {"namespaces": {"include": ["a"]}, "excludeOwnerKinds": ["Job"]}}),
    "topology-spread": ({}, {"RemovePodsViolatingTopologySpreadConstraint": {
        "constraints": ["DoNotSchedule", "ScheduleAnyway"], "topologyBalanceNodeFit": False}}),
    "inter-pod-anti-affinity": ({}, {"RemovePodsViolatingInterPodAntiAffinity": {
        "namespaces": {"exclude": ["b"]}, "labelSelector": {"matchLabels": {"tier": "db"}}}}),
    "node-affinity": ({}, {"RemovePodsViolatingNodeAffinity": {"nodeAffinityType": [REQUIRED, PREFERRED]}}),
    "node-taints": ({}, {"RemovePodsViolatingNodeTaints": {
        "includePreferNoSchedule": True, "excludedTaints": ["dedicated=db"]}}),
    "restarts": ({}, {"RemovePodsHavingTooManyRestarts": {"podRestartThreshold": 100}}),
    "failed-pods": ({}, {"RemoveFailedPods": {"reasons": ["OutOfcpu"]}}),
    "pod-life-time": ({}, {"PodLifeTime": {"maxPodLifeTimeSeconds": 86400, "states": ["Pending"]}}),
}  # fmt: skip


def text_of(top: dict[str, Any], plugins: dict[str, dict[str, Any]]) -> str:
    """A DeschedulerPolicy of one profile."""
    sets: dict[str, dict[str, list[str]]] = {}
    for name in plugins:
        if name in PLUGINS:
            sets.setdefault(PLUGINS[name].point, {"enabled": []})["enabled"].append(name)
    config = [{"name": name, "args": arguments} for name, arguments in plugins.items()]
    profile = {"name": "p", "pluginConfig": config, "plugins": sets}
    return json.dumps({"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", **top, "profiles": [profile]})


def convert(top: dict[str, Any], plugins: dict[str, dict[str, Any]]) -> tuple[str, Policy]:
    """The text that comes of it, and the policy that it is."""
    text = converted(read_descheduler_policy(text_of(top, plugins), "descheduler.yaml"), "descheduler.yaml")
    return text, parse_policy(text)


@pytest.mark.parametrize("name", CASES)
def test_each_plugin_and_argument_is_accounted_for(name: str) -> None:
    """The text is that of the golden file, which UPDATE_GOLDEN=1 writes anew; it is a policy in mode DryRun."""
    text, policy = convert(*CASES[name])
    file = GOLDEN / f"{name}.yaml"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text(text)
    assert text == file.read_text()
    assert policy.mode is Mode.DRY_RUN


def test_all_ten_plugins_are_among_the_golden_files() -> None:
    """Whoever adds one adds its conversion."""
    assert {name for _, plugins in CASES.values() for name in plugins} == {"DefaultEvictor", *PLUGINS}


@pytest.mark.parametrize("name", [name for name, (_, plugins) in CASES.items() if name != "deprecated-evictor"])
def test_every_argument_that_is_set_is_named(name: str) -> None:
    """Or its value is: nothing is dropped in silence."""
    top, plugins = CASES[name]
    text, _ = convert(top, plugins)
    lines = text.lower()
    not_placement = {"RemovePodsHavingTooManyRestarts", "RemoveFailedPods", "PodLifeTime", "RemoveDuplicates"}
    named = {
        **top,
        **{k: v for plugin, args in plugins.items() if plugin not in not_placement for k, v in args.items()},
    }
    for key in named:
        near = {"excludedTaints": "taints by name", "useDeviationThresholds": "mean", "namespaces": "namespaces",
                "labelSelector": "labelselector"}.get(key, key)  # fmt: skip
        assert near.lower() in lines, key


def test_a_file_without_placement_moves_nothing() -> None:
    """Not even what our own default objective would."""
    _, policy = convert({}, {"PodLifeTime": {"maxPodLifeTimeSeconds": 5}})
    assert policy.limits.max_evictions == 0


def test_namespaces_that_have_none_in_common_move_nothing() -> None:
    """One scope is for all objectives; a wider one would move what no plugin looks at."""
    _, policy = convert(
        {},
        {
            "RemovePodsViolatingNodeTaints": {"namespaces": {"include": ["a"]}},
            "RemovePodsViolatingInterPodAntiAffinity": {"namespaces": {"include": ["b"]}},
        },
    )
    assert policy.limits.max_evictions == 0


def test_an_age_beyond_what_can_be_written_becomes_the_longest() -> None:
    """Ten years; a comment says so."""
    text, policy = convert({}, {"DefaultEvictor": {"minPodAge": "90000h"}})
    assert policy.scope.minimum_age == 10 * 365 * 86_400
    assert "ten years at most can be written" in text.replace("\n  # ", " ")


NAMES = st.sampled_from(["a", "team-b", "kube-system", "Not Valid", "", "x" * 300, "é"])
NAMESPACES = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"include": st.lists(NAMES, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"exclude": st.lists(NAMES, min_size=1, max_size=3)}),
)
SELECTORS = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"matchLabels": st.dictionaries(st.sampled_from(["app", "a/b"]), st.sampled_from(["x", ""]))}
    ),
    st.just({"matchExpressions": [{"key": "k", "operator": "NotIn", "values": ["v"]}]}),
)
COMMON = {"namespaces": NAMESPACES, "labelSelector": SELECTORS}
SHARES = st.floats(0, 100, allow_nan=False)
ARGUMENTS = {
    "DefaultEvictor": st.fixed_dictionaries(
        {},
        optional={
            "minReplicas": st.integers(0, 2**32 - 1),
            "minPodAge": st.sampled_from(["0", "1ns", "-5s", "90000h", "1h30m"]),
            "priorityThreshold": st.sampled_from([{"name": "x: y"}, {"value": -5}, {"name": "system-node-critical"}]),
            "labelSelector": SELECTORS,
            "namespaceLabelSelector": SELECTORS,
            "nodeSelector": st.sampled_from(["a=b", "a,!b"]),
        },
    ),
    "LowNodeUtilization": st.dictionaries(
        st.sampled_from(["cpu", "memory", "pods", "example.com/gpu", "", "x y"]), SHARES, min_size=1
    ).flatmap(
        lambda low: st.fixed_dictionaries(
            {
                "thresholds": st.just(low),
                "targetThresholds": st.just(dict.fromkeys(low, 100)),
                "useDeviationThresholds": st.booleans(),
            }
        )
    ),
    "RemovePodsViolatingNodeTaints": st.fixed_dictionaries({}, optional=COMMON),
    "RemovePodsViolatingInterPodAntiAffinity": st.fixed_dictionaries({}, optional=COMMON),
    "PodLifeTime": st.fixed_dictionaries({"maxPodLifeTimeSeconds": st.integers(0, 2**32 - 1)}, optional=COMMON),
}
TOP = st.fixed_dictionaries(
    {},
    optional={
        "nodeSelector": st.sampled_from(["a=b", "", "a in (b,c)", "!a", "x notin (y)"]),
        "maxNoOfPodsToEvictTotal": st.integers(0, 2**32 - 1),
        "gracePeriodSeconds": st.integers(-5, 2**40),
    },
)


@settings(max_examples=150, deadline=None)
@given(TOP, st.fixed_dictionaries({}, optional=ARGUMENTS))
def test_whatever_upstream_would_run_becomes_a_policy(top: dict[str, Any], plugins: dict[str, dict[str, Any]]) -> None:
    """It passes as one, in mode DryRun, and allows no more than the file's own limit."""
    try:
        read_descheduler_policy(text_of(top, plugins), "d.yaml")
    except PolicyError:
        return  # upstream would refuse it
    text, policy = convert(top, plugins)
    assert policy.mode is Mode.DRY_RUN
    if "maxNoOfPodsToEvictTotal" in top:
        assert policy.limits.max_evictions <= top["maxNoOfPodsToEvictTotal"]
    assert yaml.safe_load(text)["kind"] == "ReschedulerPolicy"
