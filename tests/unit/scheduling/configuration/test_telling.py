"""What a configuration means, in sentences."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.configuration import built_in, configuration_sentences
from tests.unit.scheduling.configuration.reading import configured, kube, read, with_plugins


def told(text: str) -> list[str]:
    """The sentences about the one profile of a text."""
    ((_, sentences),) = configuration_sentences(read(text))
    return list(sentences)


def test_defaults() -> None:
    """Filters, scores with weights, and that predictions hold."""
    ((heading, sentences),) = configuration_sentences(built_in())
    assert heading == "scheduler default-scheduler (kube-scheduler's defaults)"
    assert sentences[0].startswith("filters nodes by SchedulingGates, NodeUnschedulable, ")
    assert "TaintToleration x3" in sentences[1]
    assert "NodeResourcesFit x1 (LeastAllocated of cpu 1, memory 1)" in sentences[1]
    assert sentences[-1] == "predictions: where a pod fits and which node it gets are known"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            with_plugins("filter:\n  enabled: [{name: Mine}]"),
            "predictions: none; its pods are never moved, and no place is promised to them",
        ),
        (
            with_plugins("score:\n  enabled: [{name: Mine}]"),
            "predictions: where a pod fits is known; which of those nodes it gets is an estimate",
        ),
        (
            with_plugins("multiPoint:\n  enabled: [{name: TargetLoadPacking}]"),
            "predictions: where a pod fits is known; which of those nodes it gets is an estimate",
        ),
        (
            kube("extenders: [{urlPrefix: http://x, filterVerb: f, managedResources: [{name: a.b/c}]}]"),
            "predictions: where a pod fits and which node it gets are known but for the pods named above",
        ),
        (
            with_plugins("postFilter:\n  enabled: [{name: Mine}]"),
            "predictions: where a pod fits and which node it gets are known",
        ),
    ],
)
def test_what_predictions_hold(text: str, sentence: str) -> None:
    """The last sentence says what may be believed."""
    assert told(text)[-1] == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            kube("percentageOfNodesToScore: 30"),
            "of 100 nodes or more, looks for 30 % of them only: there a destination",
        ),
        (kube(""), "of 100 nodes or more, looks at a part only: there a destination is one of several"),
        (with_plugins("score:\n  enabled: [{name: Mine}]"), "Mine: not modelled: its score is unknown"),
        (with_plugins("score:\n  disabled: [{name: '*'}]"), "scores no nodes"),
        (
            with_plugins("filter:\n  disabled: [{name: '*'}]\npreEnqueue:\n  disabled: [{name: '*'}]"),
            "filters no nodes",
        ),
        (
            configured("NodeResourcesFit", "ignoredResourceGroups: [a.b]"),
            "does not look whether nodes have room for a.b/*",
        ),
        (configured("NodeAffinity", "addedAffinity: {}"), "adds node affinity of its own to every pod"),
        (
            configured("PodTopologySpread", "defaultingType: List"),
            "spreads pods without constraints of their own by nothing",
        ),
        (
            "actions: allocate\ntiers: [{plugins: [{name: usage, arguments: {thresholds: {cpu: 50}}}]}]\n",
            "keeps pods off nodes with measured load above cpu 50 % or memory 80 %",
        ),
    ],
)
def test_sentences(text: str, sentence: str) -> None:
    """Each thing that a profile does otherwise has a sentence."""
    assert any(line.startswith(sentence) for line in told(text))


def test_every_node_is_looked_at() -> None:
    """At 100 percent a destination is no sample."""
    assert not any("of 100 nodes" in line for line in told(kube("percentageOfNodesToScore: 100")))
