"""What a source of load is filled with for the contract, and what each source must be able to do for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from rescheduler.extension_points import MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.usage.samples import PodKey

STEP = 15.0
SPAN = 1200.0
SECRET = "c4nary-t0ken-9f"
TIMEOUT_SECONDS = 1.0
"""What ``World.reaching`` sets as the provider's time-out."""


class Load(NamedTuple):
    """A node's load at one time, as fractions of its capacity."""

    at: float
    cpu: float
    memory: float


class PodLoad(NamedTuple):
    """A pod's load at one time."""

    at: float
    millicores: float
    memory_bytes: float


class Scene(NamedTuple):
    """What the source is to hold, each series oldest first.

    ``hosts``: by node name, every STEP seconds. ``rivals``: a second series of the same host at the same times, such as
    another exporter's.
    """

    hosts: Mapping[str, Sequence[Load]] = {}
    rivals: Mapping[str, Sequence[Load]] = {}
    pods: Mapping[PodKey, Sequence[PodLoad]] = {}


class World(Protocol):
    """One kind of source, ready to be filled."""

    now: float
    """The time at which samples are asked for: the real one for real servers."""
    tolerance: float
    """By how much a value may differ from what was put in, as a fraction of it."""
    lag: float
    """By how many seconds measured_at may differ from the time of what was put in (resolution of the source)."""
    has_history: bool
    has_pods: bool
    has_rivals: bool
    """Whether the source can hold two series for one host."""

    def provider(self, scene: Scene, nodes: Sequence[Node]) -> MetricsProvider:
        """A provider over a source that holds this scene and nothing else; ``nodes``: those of the scene."""

    def reaching(self, address: str) -> MetricsProvider | None:
        """A provider that asks this address, with SECRET as its credential where it has one, and TIMEOUT_SECONDS as
        its time-out; None for one that asks no address."""


def steady(now: float, cpu: float, memory: float, *, age: float = 0.0, span: float = SPAN) -> list[Load]:
    """The same load all the time until ``age`` seconds ago."""
    return [Load(at, cpu, memory) for at in times(now, age, span)]


def times(now: float, age: float = 0.0, span: float = SPAN) -> list[float]:
    """Times every STEP seconds over ``span``, the last ``age`` seconds ago."""
    return [now - age - STEP * back for back in range(int((span - age) / STEP), -1, -1)]
