"""Changes of single nodes: read, patched with uid and version, and read again where somebody else was faster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded, require_done
from rescheduler.adapters.kubernetes.client.failures import NotServedError
from rescheduler.adapters.kubernetes.client.patching import MERGE_PATCH
from rescheduler.adapters.kubernetes.client.paths import node_path
from rescheduler.extension_points import ClusterError

ATTEMPTS: Final = 20
"""A node's kubelet and controllers write to it too; each of their writes in between costs one more attempt."""


class NodeMetadata(msgspec.Struct, gc=False):
    """As much of it as is written to, or sent along."""

    name: str
    uid: str = ""
    resource_version: str = msgspec.field(name="resourceVersion", default="")
    annotations: dict[str, Any] | None = None


class NodeSpec(msgspec.Struct, gc=False):
    """``taints`` are kept as they came, since all but ours are written back as they are."""

    taints: list[dict[str, Any]] | None = None


class NodeForm(msgspec.Struct, gc=False):
    """A node as it stands on the server."""

    metadata: NodeMetadata
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)


class _NodeForms(msgspec.Struct, gc=False):
    items: list[NodeForm]


def read_nodes(connection: Connection) -> Iterator[NodeForm]:
    """All nodes. Raises ClusterError."""
    for page in connection.pages(node_path()):
        yield from decoded(connection, f"GET {node_path()}", page, _NodeForms).items


def change_node(
    connection: Connection, name: str, change: Callable[[NodeForm], Mapping[str, Any] | None], lacking: str
) -> str | None:
    """Patch what ``change`` makes of a node (None: nothing to do); the node's uid if that was written.

    The node's uid and resourceVersion go along, so a change by anybody else in between is a conflict and nothing is
    lost: the node is read again then. None also if the node is gone. Raises ClusterError; ``lacking``: what was not
    done, for the case that others change it all the time.
    """
    path = node_path(name)
    for _ in range(ATTEMPTS):
        try:
            node = decoded(connection, f"GET {path}", connection.get(path), NodeForm)
        except NotServedError:
            return None
        wanted = change(node)
        if wanted is None:
            return None
        identity = {"uid": node.metadata.uid, "resourceVersion": node.metadata.resource_version}
        body = {**wanted, "metadata": {**wanted.get("metadata", {}), **identity}}
        answer = connection.send("PATCH", path, body, content_type=MERGE_PATCH)
        if answer.status == 404:
            return None
        if answer.status != 409:
            require_done(connection, "PATCH", path, answer)
            return node.metadata.uid
    raise ClusterError(f"node {name} is changed by others all the time: {lacking}")
