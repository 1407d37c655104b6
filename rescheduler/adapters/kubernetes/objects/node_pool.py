"""A decoded NodePool of Karpenter as the model's, as far as it tells who consolidates its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct, ObjectMeta, name_of
from rescheduler.model.objects.constraints import Requirement
from rescheduler.model.objects.node_pool import CONSOLIDATING, WHEN_EMPTY, NodePool, PoolBudget

_REQUIREMENT: Final = ("key", "operator", "values")

# Fields of a NodePool, loosely: another version of Karpenter may write others, and one that cannot be read leaves the
# pool to Karpenter.


class DisruptionObject(ApiStruct):
    """When nodes of the pool are taken away."""

    consolidation_policy: Any = None
    consolidate_after: Any = None
    budgets: Any = None


class NodeTemplateSpec(ApiStruct):
    """What a node of the pool is like."""

    requirements: Any = None


class NodeTemplate(ApiStruct):
    """A node of the pool before it is bought."""

    spec: NodeTemplateSpec | None = None


class NodePoolSpec(ApiStruct):
    """How nodes of the pool are kept."""

    disruption: DisruptionObject | None = None
    replicas: Any = None
    template: NodeTemplate | None = None


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
    template = (spec.template or NodeTemplate()).spec or NodeTemplateSpec()
    requirements = tuple(_requirements(template.requirements, problems))
    for problem in problems:
        warn(f"NodePool {name}: {problem}; it counts as if it were not told")
    return NodePool(
        name=name,
        policy=policy,
        consolidate_after=after,
        budgets=budgets,
        replicas=replicas,
        requirements=requirements,
    )


def _requirements(found: Any, problems: list[str]) -> Iterator[Requirement]:
    """What the template asks of labels, as node affinity does."""
    if found is None:
        return
    if not isinstance(found, list):
        problems.append("spec.template.spec.requirements is not a list")
        return
    for item in found:
        key, operator, values = (item.get(name) if isinstance(item, dict) else None for name in _REQUIREMENT)
        listed = [] if values is None else values
        if not isinstance(key, str) or not isinstance(operator, str) or not _are_texts(listed):
            problems.append("spec.template.spec.requirements has an entry without key, operator and a list of values")
            return
        yield Requirement(key, operator, tuple(listed))


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


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
