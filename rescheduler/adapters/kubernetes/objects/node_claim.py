"""A decoded NodeClaim of Karpenter, as far as it forbids that its node is taken away."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct, ObjectMeta, SharedMetadata, name_of
from rescheduler.model.objects.annotations import DO_NOT_DISRUPT
from rescheduler.model.objects.node import Node


class ClaimedNodeStatus(ApiStruct):
    """Which node it is about."""

    node_name: Any = None


class ClaimedNodeObject(ApiStruct):
    """A NodeClaim of karpenter.sh: its marks, and its node."""

    metadata: ObjectMeta | None = None
    status: ClaimedNodeStatus | None = None


class NodeClaim(Struct, frozen=True, gc=False):
    """A NodeClaim; ``node``: empty while there is none."""

    name: str
    node: str = ""
    is_kept: bool = False


def node_claim(found: ClaimedNodeObject, shared: SharedMetadata) -> NodeClaim:
    """One claim. Raises ObjectError without a name."""
    name, meta = name_of(found.metadata), found.metadata or ObjectMeta()
    node = None if found.status is None else found.status.node_name
    is_kept = shared.annotations(meta).get(DO_NOT_DISRUPT) == "true"
    return NodeClaim(name, node if isinstance(node, str) else "", is_kept)


def as_claimed(nodes: tuple[Node, ...], claims: Iterable[NodeClaim]) -> tuple[Node, ...]:
    """Nodes with their claims' mark, which Karpenter heeds as if the node carried it; the same tuple without any."""
    kept = {claim.node for claim in claims if claim.is_kept}
    return tuple(_marked(node) if node.name in kept else node for node in nodes) if kept else nodes


def _marked(node: Node) -> Node:
    return replace(node, annotations={**node.annotations, DO_NOT_DISRUPT: "true"})
