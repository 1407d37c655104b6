"""What a cluster costs a month: by whom, and what each rule costs that keeps nodes in use."""

from __future__ import annotations

from msgspec import Struct

from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.plan import API_VERSION


class PoolCost(Struct, frozen=True, rename="camel"):
    """Nodes of one pool; ``idle``: what nobody has asked for, of their cost."""

    name: str
    nodes: int
    cost: float
    idle: float


class PodsCost(Struct, frozen=True, rename="camel"):
    """Pods of one namespace or owner: of each node the greater of their shares of its CPU and memory."""

    name: str
    pods: int
    cost: float


class RuleCost(Struct, frozen=True, rename="camel"):
    """A rule that keeps ``nodes`` in use by ``pods`` of them.

    ``saving``: what a plan without it saves beyond one with it; ``atMost``: proven, no plan without it saves more.
    """

    rule: str
    object: str
    pods: int
    nodes: int
    saving: float
    at_most: float


class Costs(Struct, frozen=True, rename="camel"):
    """Amounts a month, the largest first."""

    cost: Cost
    idle: float
    by_pool: tuple[PoolCost, ...] = ()
    by_namespace: tuple[PodsCost, ...] = ()
    by_owner: tuple[PodsCost, ...] = ()
    rules: tuple[RuleCost, ...] = ()
    warnings: tuple[str, ...] = ()
    api_version: str = API_VERSION
    kind: str = "Costs"
