"""Host ports: which pairs conflict, and with whose."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import HostPort
from rescheduler.scheduling.filters.node_ports import NodePorts
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.asking import refused

TAKEN = {"n1": ("node(s) didn't have free ports for the requested pod ports",)}


@pytest.mark.parametrize(
    ("held", "asked", "is_refused"),
    [
        (HostPort(80), HostPort(80), True),
        (HostPort(80), HostPort(81), False),
        (HostPort(80, "TCP"), HostPort(80, "UDP"), False),
        (HostPort(80, "TCP"), HostPort(80, ""), True),
        (HostPort(80, "TCP", "10.0.0.1"), HostPort(80, "TCP", "10.0.0.2"), False),
        (HostPort(80, "TCP", "10.0.0.1"), HostPort(80, "TCP", "10.0.0.1"), True),
        (HostPort(80, "TCP", "10.0.0.1"), HostPort(80), True),
        (HostPort(80), HostPort(80, "TCP", "10.0.0.1"), True),
        (HostPort(80, "TCP", ""), HostPort(80, "TCP", "10.0.0.1"), True),
        (HostPort(80, "TCP", "::"), HostPort(80, "TCP", "10.0.0.1"), False),
        (HostPort(80, "TCP", "::"), HostPort(80), True),
    ],
)
def test_ports_conflict_by_protocol_number_and_address(held: HostPort, asked: HostPort, is_refused: bool) -> None:
    """An empty protocol is TCP, an empty address is every address, and ``::`` is an ordinary one."""
    world = cluster(node("n1"), node("n2"), pod("a-1", node="n1", host_ports=(held,)), pod("x", host_ports=(asked,)))
    assert refused(NodePorts(), world) == (TAKEN if is_refused else {})


def test_terminating_pods_still_hold_their_ports() -> None:
    """Until they are gone."""
    world = cluster(node("n1"), pod("a-1", node="n1", ports=[80], deletion_at=NOW), pod("x", ports=[80]))
    assert refused(NodePorts(), world) == TAKEN


def test_a_moving_pod_holds_its_port_at_both_ends_but_not_against_itself() -> None:
    """Its own old copy makes way for it."""
    world = cluster(node("n1"), node("n2"), pod("a-1", node="n1", ports=[80]), pod("x", ports=[80]))
    assert sorted(refused(NodePorts(), world, moves={"a-1": "n2"})) == ["n1", "n2"]
    assert refused(NodePorts(), world, pod="a-1", moves={"a-1": "n2"}) == {}
