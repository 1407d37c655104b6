"""What a plan was made for that is not so: nodes taken away or added in thought only."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from rescheduler.model.machine import Machine
from rescheduler.model.objects.resources import Resources
from rescheduler.model.prices import Place


class NodeShape(Struct, frozen=True):
    """Nodes to add in thought: so many, like a node that there is, or with these resources.

    ``place``: or of a type that the table of prices knows, which makes it a ``machine`` once that has been read.
    """

    count: int = 1
    like: str = ""
    resources: Resources = ()
    place: Place = ()
    machine: Machine | None = None


class AddedNode(Struct, frozen=True, rename="camel"):
    """A node that exists in one plan only.

    ``allocatable``: what is left of it for pods that are moved or wait; pods that come with every node are taken off,
    ``node_pods`` in number. ``instance_type`` to ``node_pool``: of one that would be bought by the table of prices, for
    ``price`` a month.
    """

    name: str
    allocatable: dict[str, str]
    like: str | UnsetType = UNSET
    node_pods: int = 0
    instance_type: str | UnsetType = UNSET
    capacity_type: str | UnsetType = UNSET
    zone: str | UnsetType = UNSET
    node_pool: str | UnsetType = UNSET
    price: float | UnsetType = UNSET


class NodeReplacement(Struct, frozen=True, rename="camel"):
    """What the removed nodes cost a month, what the added ones would, and the least of any set that takes their pods.

    ``new_cost`` is null where no set was found, or none that is worth it. ``old_prices``: of each of the removed nodes.
    """

    old_cost: float
    new_cost: float | None
    least_cost: float
    old_prices: dict[str, float] = {}


class Reached(Struct, frozen=True, rename="camel"):
    """What another answer to the same question reaches. ``helped``: pending pods; ``emptied``: nodes to be removed."""

    evictions: int
    helped: int | UnsetType = UNSET
    emptied: int | UnsetType = UNSET


class WhatIf(Struct, frozen=True, rename="camel"):
    """The question behind a plan.

    ``without_added``: what is reached without the added nodes; ``without_moves``: with them, by scheduling alone.
    ``replacement``: the added nodes were chosen to replace the removed ones.
    """

    removed_nodes: tuple[str, ...] = ()
    added_nodes: tuple[AddedNode, ...] = ()
    without_added: Reached | UnsetType = UNSET
    without_moves: Reached | UnsetType = UNSET
    replacement: NodeReplacement | UnsetType = UNSET
