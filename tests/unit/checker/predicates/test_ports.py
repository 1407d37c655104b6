"""Tests of host ports."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import HostPort
from tests.builders import cluster, node, pod
from tests.unit.checker.cases import broken, move, place, plan


@pytest.mark.parametrize(
    ("taken", "wanted", "collide"),
    [
        (HostPort(80), HostPort(80), True),
        (HostPort(80), HostPort(81), False),
        (HostPort(80, "UDP"), HostPort(80), False),
        (HostPort(80, "TCP", "10.0.0.1"), HostPort(80, "TCP", "10.0.0.2"), False),
        (HostPort(80, "TCP", "10.0.0.1"), HostPort(80), True),
        (HostPort(80), HostPort(80, "TCP", "10.0.0.2"), True),
        (HostPort(80, "TCP", "10.0.0.1"), HostPort(80, "TCP", "10.0.0.1"), True),
        (HostPort(80, "TCP", "::"), HostPort(80, "TCP", "10.0.0.1"), False),
    ],
)
def test_ports_collide_on_an_address_in_common(taken: HostPort, wanted: HostPort, *, collide: bool) -> None:
    """Same port, same protocol, and 0.0.0.0 on one side or equal addresses."""
    world = cluster(node("n1"), pod("a-0", node="n1", host_ports=(taken,)), pod("new-0", host_ports=(wanted,)))
    assert broken(world, plan(place("new-0", "n1"))) == ({"NodePorts"} if collide else set())


def test_ports_of_arrivals_of_one_wave_collide_and_those_of_leavers_until_its_end() -> None:
    """A port is free again only when the wave that frees it has ended."""
    nodes = [node(name) for name in ("n1", "n2", "n3")]
    world = cluster(*nodes, *(pod(f"{name}-0", node=f"n{number}", ports=[80]) for number, name in enumerate("abc", 1)))
    assert broken(world, plan(move("a-0", "n1", "n2"), move("b-0", "n2", "n3"))) == {"NodePorts"}
    free = cluster(*nodes, pod("a-0", node="n1", ports=[80]), pod("b-0", node="n2", ports=[80]))
    assert broken(free, plan(move("b-0", "n2", "n3", 1), move("a-0", "n1", "n2", 2))) == set()
    assert broken(free, plan(move("b-0", "n2", "n3", 1), move("a-0", "n1", "n3", 1))) == {"NodePorts"}
    apart = cluster(*nodes, node("n4"), pod("a-0", node="n1", ports=[80]), pod("b-0", node="n2", ports=[80]))
    assert broken(apart, plan(move("b-0", "n2", "n3", 1), move("a-0", "n1", "n4", 1))) == set()


def test_one_port_in_common_is_enough() -> None:
    """Of several on both sides."""
    world = cluster(node("n1"), pod("a-0", node="n1", ports=[1, 2]), pod("new-0", ports=[3, 2]))
    assert broken(world, plan(place("new-0", "n1"))) == {"NodePorts"}
