"""Hosts: which node a name means, and when nobody can say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.metrics.samples.hosts import Hosts, without_port
from rescheduler.model.objects.node import Node

NODES = [
    Node("n1", addresses=(("InternalIP", "10.0.0.1"), ("Hostname", "n1"), ("InternalIP", "fd00::1"))),
    Node("n2.example.com", addresses=(("InternalIP", "10.0.0.2"), ("ExternalIP", "192.0.2.2"))),
    Node("n3", labels={"kubernetes.io/hostname": "rack-7"}),
]


@pytest.mark.parametrize(
    ("host", "at"),
    [
        ("n1", 0),
        ("N1", 0),
        ("n1:9100", 0),
        ("10.0.0.1", 0),
        ("10.0.0.1:10250", 0),
        ("fd00::1", 0),
        ("[fd00::1]:9100", 0),
        ("n1.cluster.local", 0),
        ("n1.cluster.local:9100", 0),
        ("n2.example.com", 1),
        ("n2", 1),
        ("n2:9100", 1),
        ("192.0.2.2:9100", 1),
        ("rack-7", 2),
    ],
)
def test_names_of_a_node(host: str, at: int) -> None:
    """Name, address, host name; with a port or without; short or in full."""
    assert Hosts(NODES).of_host(host) == (at,)


@pytest.mark.parametrize(
    "host", ["", ":9100", "n4", "n2.example.org", "10.0.0.10", "10", "10.0.0", "n1:9100:1", "n", "\x1b[31m", "n1 "]
)
def test_strangers(host: str) -> None:
    """Near misses are misses: another domain, a longer address, a part of a name."""
    assert Hosts(NODES).of_host(host) == ()


def test_a_name_goes_before_an_address() -> None:
    """A node that is called like another one's address keeps its name."""
    nodes = [Node("10.0.0.2"), Node("b", addresses=(("InternalIP", "10.0.0.2"),))]
    assert Hosts(nodes).of_host("10.0.0.2:9100") == (0,)


def test_an_address_of_two_nodes_is_ambiguous() -> None:
    """As after a machine was replaced and its old node object is still there."""
    nodes = [Node(name, addresses=(("InternalIP", "10.0.0.1"),)) for name in ("old", "new")]
    assert Hosts(nodes).of_host("10.0.0.1:9100") == (0, 1)


def test_a_short_name_of_two_nodes_is_ambiguous() -> None:
    """Nobody knows which rack is meant."""
    assert Hosts([Node("a.rack1"), Node("a.rack2")]).of_host("a") == (0, 1)


def test_the_short_name_does_not_hide_the_whole_one() -> None:
    """A node may be called like the first part of another."""
    hosts = Hosts([Node("a"), Node("a.rack2")])
    assert (hosts.of_host("a"), hosts.of_host("a.rack2")) == ((0,), (1,))


def test_labels_are_tried_in_order() -> None:
    """``node`` says more than ``instance``, which may be the exporter's own pod; unknown values are passed over."""
    hosts = Hosts(NODES)
    assert hosts.of_labels({"instance": "10.0.0.2:9100", "node": "n1"}) == (0,)
    assert hosts.of_labels({"instance": "10.0.0.2:9100", "node": "elsewhere"}) == (1,)
    assert hosts.of_labels({"pod": "n1", "job": "n1"}) == ()


def test_one_label_alone() -> None:
    """Where the operator names the label, no other counts."""
    hosts = Hosts(NODES, label="machine")
    assert hosts.of_labels({"machine": "n1", "node": "n3"}) == (0,)
    assert hosts.of_labels({"node": "n3"}) == ()


@pytest.mark.parametrize(
    ("pattern", "value", "found"),
    [
        (r"^gke-(.+)-metrics$", "gke-n1-metrics", (0,)),
        (r"^gke-(.+)-metrics$", "n1", ()),
        (r"n\d+", "prod/n1/agent", (0,)),
        (r"^x(.*)$", "x", ()),
        (r"(n1)|other", "other", ()),
    ],
)
def test_patterns(pattern: str, value: str, found: tuple[int, ...]) -> None:
    """The group, else all that matched, is the host; what does not match is nobody."""
    assert Hosts(NODES, pattern=pattern).of_host(value) == found


def test_aliases() -> None:
    """What else a source calls a host; an empty alias is none."""
    hosts = Hosts(NODES, aliases={"10.9.9.9:9100": "n3", "10.9.9.8:9100": ""})
    assert hosts.of_labels({"instance": "10.9.9.9:9100"}) == (2,)
    assert hosts.of_labels({"instance": "10.9.9.8:9100"}) == ()


@given(st.lists(st.text(min_size=1, max_size=20), unique_by=str.lower, max_size=8), st.text(max_size=20))
def test_any_text_is_answered(names: list[str], host: str) -> None:
    """Names as they come never fail; each node is found by its own name, and all that is found exists."""
    hosts = Hosts([Node(name) for name in names])
    assert all(0 <= at < len(names) for at in hosts.of_host(host))
    for at, name in enumerate(names):
        assert at in hosts.of_host(name)


@given(st.text(max_size=30))
def test_ports_end_names_only(text: str) -> None:
    """Taking a port away never makes a name longer."""
    assert len(without_port(text)) <= len(text)
