"""Whatever a text holds, reading it gives a configuration or one typed error."""

from __future__ import annotations

import json
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.scheduling.configuration import (
    Configuration,
    ConfigurationError,
    configuration_sentences,
    read_configuration,
    scheduling_profiles,
)

SEEDS: list[dict[str, Any]] = [
    {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "percentageOfNodesToScore": 50,
        "profiles": [
            {
                "schedulerName": "a",
                "plugins": {
                    "multiPoint": {
                        "enabled": [{"name": "TargetLoadPacking", "weight": 2}],
                        "disabled": [{"name": "*"}],
                    },
                    "score": {"enabled": [{"name": "NodeResourcesFit", "weight": 3}]},
                },
                "pluginConfig": [
                    {
                        "name": "NodeResourcesFit",
                        "args": {
                            "ignoredResources": ["a.b/c"],
                            "scoringStrategy": {
                                "type": "RequestedToCapacityRatio",
                                "resources": [{"name": "cpu", "weight": 2}],
                                "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 10}]},
                            },
                        },
                    },
                    {
                        "name": "NodeAffinity",
                        "args": {
                            "addedAffinity": {
                                "requiredDuringSchedulingIgnoredDuringExecution": {
                                    "nodeSelectorTerms": [
                                        {"matchExpressions": [{"key": "x", "operator": "In", "values": ["y"]}]}
                                    ]
                                }
                            }
                        },
                    },
                    {
                        "name": "PodTopologySpread",
                        "args": {
                            "defaultingType": "List",
                            "defaultConstraints": [
                                {"topologyKey": "z", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
                            ],
                        },
                    },
                    {"name": "TargetLoadPacking", "args": {"targetUtilization": 40, "defaultRequests": {"cpu": "1"}}},
                    {"name": "LowRiskOverCommitment", "args": {"riskLimitWeights": {"cpu": 0.5}}},
                    {"name": "SafeBalancing", "args": {"confidence": 2.0}},
                ],
            }
        ],
        "extenders": [{"urlPrefix": "http://x", "filterVerb": "f", "managedResources": [{"name": "a.b/c"}]}],
    },
    {
        "actions": "allocate",
        "tiers": [
            {
                "plugins": [
                    {
                        "name": "usage",
                        "enablePredicate": True,
                        "arguments": {"usage.weight": 5, "thresholds": {"cpu": 80}, "estimator": {"be_cpu": "250m"}},
                    },
                    {"name": "binpack", "arguments": {"binpack.resources": "a.b/c"}},
                    {"name": "nodeorder", "arguments": {"leastrequested.weight": 1}},
                    {"name": "predicates", "arguments": {"predicate.CacheEnable": True}},
                ]
            }
        ],
        "metrics": {"type": "prometheus", "address": "http://p", "interval": "30s", "tls": {"insecureSkipVerify": "x"}},
    },
    {
        "kind": "Policy",
        "predicates": [{"name": "GeneralPredicates"}],
        "priorities": [
            {
                "name": "R",
                "weight": 5,
                "argument": {
                    "requestedToCapacityRatioArguments": {
                        "shape": [{"utilization": 0, "score": 0}],
                        "resources": [{"resource": "a.b/c", "weight": 2}],
                    }
                },
            }
        ],
    },
]

odd = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just([]), st.just({}),
    st.just([None]), st.just({"": 0}), st.just("*"), st.integers(-2, 102), st.just("1" * 400),
)  # fmt: skip


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all values."""
    steps = list(data) if isinstance(data, dict) else list(range(len(data))) if isinstance(data, list) else []
    return [path, *(place for step in steps for place in places(data[step], (*path, step)))]


def changed(data: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy with another value at a path."""
    if not path:
        return value
    copied = dict(data) if isinstance(data, dict) else list(data)
    copied[path[0]] = changed(data[path[0]], path[1:], value)
    return copied


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A good configuration with some values replaced by odd ones, as YAML or JSON."""
    data: Any = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 3))):
        data = changed(data, draw(st.sampled_from(places(data))), draw(odd))
    if draw(st.booleans()):
        return json.dumps(data)
    return yaml.safe_dump(data, allow_unicode=draw(st.booleans()))


def read_or_refusal(text: str, name: str | None = None) -> tuple[Configuration | None, str]:
    """The configuration, or what is said of the text."""
    try:
        return read_configuration(text, "conf", scheduler_name=name), ""
    except ConfigurationError as error:
        return None, str(error)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated(), st.sampled_from([None, "mine"]))
def test_mutated_configurations(text: str, name: str | None) -> None:
    """A mutated configuration is read, told and made into profiles, or refused with places."""
    configuration, said = read_or_refusal(text, name)
    if configuration is None:
        assert all(line.startswith(("conf", "and ")) and line.isprintable() for line in said.splitlines())
        return
    assert all(sentences for _, sentences in configuration_sentences(configuration))
    profiles = scheduling_profiles(configuration, server_version=None, windows=None, node_count=2)
    assert set(profiles) == set(configuration.profiles)


TEXTS = [json.dumps(seed, indent=1) for seed in SEEDS] + [yaml.safe_dump(seed) for seed in SEEDS]
PIECES = ["...", "&a ", "*a", "<<: ", "- ", "{", "]", "\t", "\n---\n", "!!x "]


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(TEXTS), st.data())
def test_broken_texts(text: str, data: st.DataObject) -> None:
    """A text with pieces cut out or put in raises nothing else either."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    piece = data.draw(st.one_of(st.text(max_size=4), st.sampled_from(PIECES)))
    configuration, said = read_or_refusal(text[:start] + piece + text[end:])
    assert configuration is not None or said.startswith("conf")


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_text(text: str) -> None:
    """Nor does any text at all."""
    configuration, said = read_or_refusal(text)
    assert configuration is not None or said.startswith("conf")
