"""Who answers for a Service: the pods that its EndpointSlices list."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class ServiceEndpoints(Struct, frozen=True):
    """All EndpointSlices of one Service and one kind of address together, since they share its pods among them.

    ``listed``: uids of pods that are in one of them; ``ready``: those that get requests.
    """

    name: str
    listed: frozenset[str] = frozenset()
    ready: frozenset[str] = frozenset()


def answers_wherever(new: str, old: str, services: Iterable[ServiceEndpoints]) -> bool:
    """Whether the pod with the uid ``new`` gets requests of everybody who knows the pod with the uid ``old``."""
    return all(new in service.ready for service in services if old in service.listed)
