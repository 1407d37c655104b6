"""Reads NetworkPolicies of a live cluster: only moves by surge rest on them, so nobody else needs the right to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, NotServedError
from rescheduler.adapters.kubernetes.client.paths import object_path
from rescheduler.adapters.kubernetes.kinds import NETWORK_POLICY
from rescheduler.adapters.kubernetes.objects.cluster import ObjectConversion
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.pages import decode_page
from rescheduler.extension_points import ClusterError, ClusterReader
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import NetworkPolicy


def read_network_policies(connection: Connection, namespaces: Iterable[str]) -> tuple[NetworkPolicy, ...]:
    """All of the cluster, or where we may not list those, all of these namespaces (at least one).

    Raises ForbiddenError where we may do neither, ClusterError; one that cannot be read might be about any pod.
    """
    places = sorted(set(namespaces))
    try:
        return _listed(connection, NETWORK_POLICY.path)
    except ForbiddenError:
        if not places:
            raise
    paths = (object_path(NETWORK_POLICY.path, place) for place in places)
    return tuple(found for path in paths for found in _listed(connection, path))


def _listed(connection: Connection, path: str) -> tuple[NetworkPolicy, ...]:
    convert = ObjectConversion(_ignore).convert
    try:
        return tuple(
            convert(NETWORK_POLICY.name, found).made
            for page in connection.pages(path)
            for found in decode_page(NETWORK_POLICY, page)
        )
    except NotServedError:
        return ()
    except (ObjectError, BrokenTextError) as error:
        raise ClusterError(f"{connection.server} answered GET {path} with what cannot be read: {error}") from error


def _ignore(_warning: str) -> None:
    """What is odd about a NetworkPolicy changes nothing here."""


class ReaderForSurges(ClusterReader):
    """Takes snapshots that hold the NetworkPolicies of some namespaces too."""

    def __init__(self, reader: ClusterReader, complete: Callable[[Cluster], Cluster]) -> None:
        """``complete`` adds NetworkPolicies to a snapshot; raises ClusterError."""
        self._reader = reader
        self._complete = complete

    def read(self) -> Cluster:
        """Take a snapshot. Raises ClusterError."""
        return self._complete(self._reader.read())


def completed(connection: Connection, namespaces: Iterable[str], cluster: Cluster) -> Cluster:
    """A snapshot with the NetworkPolicies of these namespaces; see ``read_network_policies``."""
    return replace(cluster, network_policies=read_network_policies(connection, namespaces))
