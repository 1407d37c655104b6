"""What a plan was made for that is not so: nodes taken away or added in thought only."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from rescheduler.model.objects.resources import Resources


class NodeShape(Struct, frozen=True):
    """Nodes to add in thought: so many, like a node that there is, or with these resources."""

    count: int = 1
    like: str = ""
    resources: Resources = ()


class AddedNode(Struct, frozen=True, rename="camel"):
    """A node that exists in one plan only.

    ``allocatable``: what is left of it for pods that are moved or wait; pods that come with every node are taken off,
    ``node_pods`` in number.
    """

    name: str
    allocatable: dict[str, str]
    like: str | UnsetType = UNSET
    node_pods: int = 0


class Reached(Struct, frozen=True, rename="camel"):
    """What another answer to the same question reaches. ``helped``: pending pods; ``emptied``: nodes to be removed."""

    evictions: int
    helped: int | UnsetType = UNSET
    emptied: int | UnsetType = UNSET


class WhatIf(Struct, frozen=True, rename="camel"):
    """The question behind a plan.

    ``without_added``: what is reached without the added nodes; ``without_moves``: with them, by scheduling alone.
    """

    removed_nodes: tuple[str, ...] = ()
    added_nodes: tuple[AddedNode, ...] = ()
    without_added: Reached | UnsetType = UNSET
    without_moves: Reached | UnsetType = UNSET
