"""A decoded NodePool of Karpenter as the model's, as far as it tells who consolidates its nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rescheduler.adapters.kubernetes.objects.metadata import ApiStruct, ObjectMeta, name_of
from rescheduler.model.objects.node_pool import CONSOLIDATING, WHEN_EMPTY, NodePool, PoolBudget

# Fields of a NodePool, loosely: another version of Karpenter may write others, and one that cannot be read leaves the
# pool to Karpenter.


class DisruptionObject(ApiStruct):
    """When nodes of the pool are taken away."""

    consolidation_policy: Any = None
    consolidate_after: Any = None
    budgets: Any = None


class NodePoolSpec(ApiStruct):
    """How nodes of the pool are kept."""

    disruption: DisruptionObject | None = None
    replicas: Any = None


class NodePoolObject(ApiStruct):
    """A NodePool of karpenter.sh."""

    metadata: ObjectMeta | None = None
    spec: NodePoolSpec | None = None


def node_pool(found: NodePoolObject, warn: Callable[[str], None]) -> NodePool:
    """One pool; what cannot be read of it is as if it were not told, and ``warn`` hears of it.

    Raises ObjectError without a name.
    """
    name = name_of(found.metadata)
    spec = found.spec or NodePoolSpec()
    disruption = spec.disruption or DisruptionObject()
    default = NodePool(name)
    problems: list[str] = []
    policy = _text(disruption.consolidation_policy, "consolidationPolicy", default.policy, problems)
    if policy not in (WHEN_EMPTY, *CONSOLIDATING):
        problems.append(f"spec.disruption.consolidationPolicy is none of {WHEN_EMPTY}, {', '.join(CONSOLIDATING)}")
        policy = default.policy
    after = _text(disruption.consolidate_after, "consolidateAfter", default.consolidate_after, problems)
    replicas = spec.replicas
    if replicas is not None and (not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 0):
        problems.append("spec.replicas is not a number of nodes")
        replicas = None
    budgets = tuple(_budgets(disruption.budgets, problems))
    for problem in problems:
        warn(f"NodePool {name}: {problem}; it counts as if it were not told")
    return NodePool(name=name, policy=policy, consolidate_after=after, budgets=budgets, replicas=replicas)


def _text(value: Any, field: str, default: str, problems: list[str]) -> str:
    if value is None:
        return default
    if isinstance(value, str) and value:
        return value
    problems.append(f"spec.disruption.{field} is not a text")
    return default


def _budgets(value: Any, problems: list[str]) -> list[PoolBudget]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        problems.append("spec.disruption.budgets is not a list of budgets")
        return []
    return [_budget(item) for item in value]


def _budget(item: dict[str, Any]) -> PoolBudget:
    reasons = item.get("reasons")
    listed = tuple(one for one in reasons if isinstance(one, str)) if isinstance(reasons, list) else ()
    amount = str(item.get("nodes", "")).removesuffix("%")
    return PoolBudget(listed, is_always=item.get("schedule") is None, forbids=amount.isdecimal() and int(amount) == 0)
