"""Reads what one move depends on by narrow requests, those that do not wait for one another side by side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from rescheduler.adapters.background import in_background
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.adapters.kubernetes.client.paths import object_path
from rescheduler.adapters.kubernetes.eviction.live_pods import read_pod, read_pods, read_pods_on
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.kubernetes.objects.cluster import ObjectConversion
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.pages import decode_object, decode_page
from rescheduler.adapters.vicinity import NarrowReads, Reads, read_vicinity
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.plan import Move
from rescheduler.model.plan.vicinity import Vicinity


class LiveReads(NarrowReads):
    """Each a request of its own, and for a long list more; no verb that reading the whole cluster does not need."""

    def __init__(self, connection: Connection) -> None:
        """Nothing is sent yet."""
        self._connection = connection

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """One pod, or None. Raises ClusterError, as all of these do."""
        return read_pod(self._connection, namespace, name)

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """The pods of one namespace that a selector matches (None: all)."""
        return read_pods(self._connection, namespace, selector)

    def pods_on(self, node: str) -> Sequence[Pod]:
        """The pods that are bound to a node."""
        return read_pods_on(self._connection, node)

    def budgets_in(self, namespace: str) -> Sequence[DisruptionBudget]:
        """The PodDisruptionBudgets of one namespace; none where the server does not know the kind."""
        kind = KIND_BY_NAME["PodDisruptionBudget"]
        path = object_path(kind.path, namespace)
        convert = ObjectConversion(_ignore).convert_or_stand_in
        try:
            pages = list(self._connection.pages(path))
            made = [convert(kind.name, found).made for page in pages for found in decode_page(kind, page)]
        except NotServedError:
            return []
        except (ObjectError, BrokenTextError) as error:
            raise self._unreadable(path, error) from error
        if None in made:
            raise self._unreadable(path, "a budget without a name")
        return made

    def read_node(self, name: str) -> Node | None:
        """One node, or None."""
        found: Node | None = self._one("Node", "", name)
        return found

    def read_workload(self, known: Workload) -> Workload | None:
        """An owner of this kind and name, or None."""
        found: Workload | None = self._one(known.kind, known.namespace, known.name)
        return found

    def _one(self, kind_name: str, namespace: str, name: str) -> Any:
        kind = KIND_BY_NAME[kind_name]
        path = object_path(kind.path, namespace, name)
        try:
            body = self._connection.get(path)
            made = ObjectConversion(_ignore).convert_or_stand_in(kind_name, decode_object(kind, body)).made
        except NotServedError:
            return None
        except (ObjectError, BrokenTextError) as error:
            raise self._unreadable(path, error) from error
        if made is None or made.name != name:
            raise self._unreadable(path, f"what is no {kind_name} of this name")
        return made

    def _unreadable(self, path: str, error: Exception | str) -> ClusterError:
        return ClusterError(f"{self._connection.server} answered GET {path} with what cannot be read: {error}")


def side_by_side(reads: Reads) -> list[Any]:
    """All at once: what is read would otherwise be as old as all of them take together."""
    return [answer.result() for answer in [in_background(read, "narrow-read") for read in reads]]


class ServerReads:
    """Every answer is the server's own, of this moment."""

    def __init__(self, connection: Connection) -> None:
        """Nothing is sent yet."""
        self._connection = connection

    def read_lists(self, asked: Sequence[tuple[str, LabelSelector | None]]) -> Sequence[Sequence[Pod]]:
        """The pods of each namespace that a selector matches (None: all), side by side. Raises ClusterError."""
        return side_by_side([partial(read_pods, self._connection, *one) for one in asked])

    def read_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """What a move depends on. Raises ClusterError."""
        return read_vicinity(LiveReads(self._connection), move, cluster, side_by_side)

    def foresee(self, move: Move, cluster: Cluster) -> Future[Pod | None] | None:  # noqa: ARG002 - for who watches
        """Begin to read what a move depends on; the pod itself, None: nothing was begun."""
        return None

    def told_pods(self, namespace: str) -> Sequence[Pod] | None:  # noqa: ARG002 - for who watches
        """The pods of a namespace as a watch has told of them so far; None: nobody watches them."""
        return None


def _ignore(_warning: str) -> None:
    """The snapshot that the plan was made from has told of it."""
