"""NodeResourcesBalancedAllocation: the old formula and the new one, by the scheduler's own numbers."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.profile import default_profile
from rescheduler.scheduling.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from tests.builders import cluster, node, pod
from tests.unit.scheduling.asking import points

CASES = [
    # held by the node, asked for, offered, score by the change, score by the result
    (("0", "0"), ("3", "5k"), ("4", "10k"), 68, 87),
    (("0", "0"), ("3", "5k"), ("6", "10k"), 75, 100),
    (("3", "0"), ("3", "5k"), ("10", "20k"), 73, 82),
    (("3", "5k"), ("3", "5k"), ("10", "20k"), 74, 95),
    (("3", "5k"), ("3", "5k"), ("10", "50k"), 70, 80),
    (("3", "0"), ("0", "5k"), ("3", "5k"), 100, 100),
    (("0", "0"), ("0", "5k"), ("3", "5k"), 50, 50),
    (("3", "0"), ("3", "0"), ("6", "10k"), 62, 50),
    (("3", "5k"), ("3", "0"), ("6", "10k"), 62, 75),
]


@pytest.mark.parametrize(("held", "asked", "offered", "by_change", "by_result"), CASES)
def test_scores_by_version(
    held: tuple[str, str], asked: tuple[str, str], offered: tuple[str, str], by_change: int, by_result: int
) -> None:
    """1.36 looks at the change that the pod makes, 1.35 at the balance with the pod."""
    world = cluster(node("n1", *offered), pod("a", *held, node="n1"), pod("x", *asked))
    assert points(NodeResourcesBalancedAllocation(), world) == [by_change]
    assert points(NodeResourcesBalancedAllocation(scores_change=False), world) == [by_result]


def test_an_extended_resource_counts_if_it_is_asked_for() -> None:
    """Then three shares deviate; where a node offers none of it, the other two do."""
    three = (("cpu", 1), ("memory", 1), ("example.com/gpu", 1))
    nodes = [node("n1", "3500m", "40k", extended={"example.com/gpu": "8"})]
    held = pod("a", "3", "5k", node="n1", extended={"example.com/gpu": "3"})
    asks = pod("x", "0", "0", extended={"example.com/gpu": "1"})
    assert points(NodeResourcesBalancedAllocation(three), cluster(*nodes, held, asks)) == [75]
    assert points(NodeResourcesBalancedAllocation(three, scores_change=False), cluster(*nodes, held, asks)) == [70]
    bare = cluster(node("n1", "3500m", "40k"), pod("x", "3", "5k", extended={"example.com/gpu": "1"}))
    assert points(NodeResourcesBalancedAllocation(three, scores_change=False), bare) == [63]
    assert points(NodeResourcesBalancedAllocation(three), cluster(*nodes, pod("x", "3", "5k"))) == [56]


def test_a_pod_that_asks_for_nothing_scores_nothing() -> None:
    """The scheduler skips the score for it."""
    assert points(NodeResourcesBalancedAllocation(), cluster(node("n1"), pod("x", "0", "0"))) == [0]


def test_a_node_that_offers_one_of_the_resources_is_balanced() -> None:
    """Nothing to deviate from."""
    assert points(NodeResourcesBalancedAllocation(scores_change=False), cluster(node("n1", memory="0"), pod("x"))) == [
        100
    ]


@pytest.mark.parametrize(
    ("version", "scores_change"),
    [("v1.36.3", True), ("1.37", True), ("v1.35.4", False), ("v1.9.0", False), (None, True), ("unknown", True)],
)
def test_the_formula_follows_the_server_version(version: str | None, scores_change: bool) -> None:
    """An unknown version counts as the newest."""
    plugins = [score.plugin for score in default_profile(version).scores]
    assert NodeResourcesBalancedAllocation(scores_change=scores_change) in plugins


def test_two_shares_have_a_formula_of_their_own() -> None:
    """It rounds otherwise than the deviation of more, also where a node does not offer the third resource."""
    asks = pod("x", "36", "4k", extended={"example.com/gpu": "1"})
    world = cluster(node("n1", "50", "100k"), asks)
    three = (("cpu", 1), ("memory", 1), ("example.com/gpu", 1))
    assert points(NodeResourcesBalancedAllocation(three, scores_change=False), world) == [66]
    assert points(NodeResourcesBalancedAllocation(scores_change=False), world) == [66]
