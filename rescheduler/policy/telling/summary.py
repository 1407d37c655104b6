"""What a policy would do, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rescheduler.extension_points.plugin_list import PluginList
from rescheduler.model.columns.selectors import describe, read_selector
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.daemon.autoscaler import (
    AutoscalerPolicy,
    BuyingTaints,
    Consolidation,
    FirstTry,
    ScaleDown,
    ScaleUp,
)
from rescheduler.policy.fields.kinds_of_pods import PersistentVolumes
from rescheduler.policy.fields.move_by import MoveRule, Otherwise
from rescheduler.policy.fields.objectives import ARGUMENTS
from rescheduler.policy.fields.policy import (
    SYSTEM_NAMESPACES,
    Disruption,
    Guidance,
    Mode,
    Objective,
    Permission,
    Policy,
    PolicySelector,
    Scope,
)
from rescheduler.policy.fields.usage import UsagePolicy
from rescheduler.policy.fields.values import format_duration
from rescheduler.policy.plugins import Plugins, asked
from rescheduler.policy.telling.budget_sentences import budget_sentences
from rescheduler.policy.telling.trigger_sentences import trigger_sentences

_WORDS: Final = (("surge", MoveMethod.SURGE), ("migration", MoveMethod.MIGRATE))

# Who steers ``run`` under a policy, in sentences.


def steering_sentences(policy: Policy) -> Iterator[str]:
    """Approval, where plans wait for it, and the REST API, where there is one."""
    if policy.mode is Mode.APPROVE:
        yield f"run carries a plan out once a person has approved it, within {format_duration(policy.approval.expires)}"
    if policy.api is not None:
        over = "HTTP" if policy.api.tls is None else "HTTPS"
        yield f"run answers over {over} on {policy.api.address} whoever shows a token for {policy.api.audience}"


# What a policy does beside an autoscaler, in sentences.


def autoscaler_sentences(rules: AutoscalerPolicy) -> Iterator[str]:
    """One for each thing that is written; what is left to the autoscaler needs none."""
    if rules.scale_up is not ScaleUp.LEAVE:
        yield (
            f"asks the autoscaler for room by {rules.scale_up} where no rearrangement helps a pending pod, "
            f"and waits {format_duration(rules.wait)} for it"
        )
    if rules.scale_down is ScaleDown.HOLD:
        yield f"keeps nodes that it has emptied empty by placeholders, for {format_duration(rules.offer)} at most"
    elif rules.scale_down is not ScaleDown.LEAVE:
        how = "an annotation" if rules.scale_down is ScaleDown.ANNOTATE else "a taint"
        yield f"marks nodes that it has emptied by {how} of its own, for {format_duration(rules.offer)} at most"
    if rules.first_try is FirstTry.ON:
        yield (
            "in mode Execute nominates a pod in the moment it becomes unschedulable, where "
            f"{rules.first_try_evictions} evictions at most make room for it, and makes the room then"
        )
    if rules.consolidation is Consolidation.OURS:
        yield "empties nodes of NodePools that Karpenter consolidates itself, too"
    if rules.taints is BuyingTaints.ALLOW:
        yield "may close nodes by taints where Karpenter buys a node for each pod that they turn away"


def told(policy: Policy, plugins: Plugins) -> Iterator[str]:
    """One sentence for each thing that an operator decides, defaults included. Raises PluginError."""
    yield from _objectives(policy.objectives, plugins.objectives)
    if policy.usage.providers:
        yield _load(policy.usage)
    yield _scope(policy.scope)
    yield from _narrower_scope(policy.scope)
    yield _limits(policy)
    share = policy.disruption.workloads.max_unavailable
    yield f"lets at most {share} of a workload's replicas be unready in one wave" + (
        " (rounded down, at least 1)" if isinstance(share, str) else ""
    )
    yield from budget_sentences(policy.disruption.budgets)
    yield _kinds(policy.disruption)
    yield from method_sentences(policy.disruption)
    if policy.guidance in (Guidance.HOLD, Guidance.GUIDE):
        yield (
            f"keeps holes and closes origins with placeholders in namespace {policy.hold.namespace}, "
            f"which outlive a killed process by at most {format_duration(policy.hold.deadline + 5)}"
        )
        if policy.guidance is Guidance.GUIDE:
            yield "holds replacements at a gate of its own, where the cluster has it, and leads them to their nodes"
    elif policy.guidance is Guidance.TAINT:
        yield (
            "closes nodes that pods leave with a taint of its own, which runs out after "
            f"{format_duration(policy.hold.deadline)} unless it is renewed, "
            f"and keeps holes with placeholders in namespace {policy.hold.namespace}"
        )
    else:
        yield "writes nothing but evictions (Predict)"
    yield from trigger_sentences(policy, plugins.triggers)
    yield from steering_sentences(policy)
    yield from autoscaler_sentences(policy.autoscaler)
    yield from _stops(policy)


def _objectives(objectives: tuple[Objective, ...], known: PluginList[Any]) -> Iterator[str]:
    """What is to be reached, in order; neighbours with a weight belong together."""
    for number, objective in enumerate(objectives):
        purpose = _purpose(objective.name, known)
        weighed = "" if objective.weight is None else f", weight {objective.weight:g}"
        cost = f", an eviction costing {objective.move_cost:g} of its units" if objective.move_cost else ""
        first = "first" if len(objectives) > 1 and not number else "then" if number else ""
        together = number and objective.weight is not None and objectives[number - 1].weight is not None
        order = "together with that" if together else first
        yield f"{order}{': ' if order else ''}{purpose[0].lower()}{purpose[1:]} ({objective.name}{weighed}{cost})"


def _purpose(name: str, known: PluginList[Any]) -> str:
    own = ARGUMENTS.get(name)
    text = asked(known, name, "explanation", known.get(name).explanation) if own is None else own.__doc__ or ""
    return " ".join(str(text).split()).rstrip(".") or name


def _load(usage: UsagePolicy) -> str:
    names = _listed([provider.name for provider in usage.providers])
    kept = f", keeping samples in {usage.store.path}" if usage.store is not None else ""
    return f"asks {names} for measured load, every {format_duration(usage.interval)} while it runs{kept}"


def _scope(scope: Scope) -> str:
    names, is_open = scope.namespaces, scope.system_namespaces is Permission.ALLOW
    if names.include is not None:
        kept = [name for name in names.include if is_open or name not in SYSTEM_NAMESPACES]
        return f"moves only pods of {_listed(kept)}"
    system = [] if is_open else [*sorted(SYSTEM_NAMESPACES), "its own"]
    left = [name for name in names.exclude if name not in system] + system
    return f"moves pods of every namespace but {_listed(left)}" if left else "moves pods everywhere"


def _narrower_scope(scope: Scope) -> Iterator[str]:
    for what, selector in (
        ("pods of namespaces with", scope.namespace_selector),
        ("pods with", scope.label_selector),
        ("pods on nodes with", scope.node_selector),
    ):
        rules = list(_rules(selector))
        if rules:
            yield f"moves only {what} {', '.join(rules)}"
    if scope.priority_below is not None:
        yield f"moves only pods of a priority below {scope.priority_below}"
    if scope.minimum_age:
        whom = "" if "minimum_age" in scope.model_fields_set else "under run "
        yield f"{whom}moves only pods that have existed for {format_duration(scope.minimum_age)}"


def _rules(selector: PolicySelector) -> Iterator[str]:
    for key, value in selector.match_labels.items():
        yield f"{key}={value}"
    for rule in selector.match_expressions:
        yield f"{rule.key} {rule.operator}" + (f" ({', '.join(rule.values)})" if rule.values else "")


def _limits(policy: Policy) -> str:
    limits = policy.limits
    caps = [f"{limits.max_evictions} evictions in one plan"]
    caps += [f"{limits.max_evictions_per_node} from one node"] if limits.max_evictions_per_node is not None else []
    if limits.max_evictions_per_namespace is not None:
        caps.append(f"{limits.max_evictions_per_namespace} from one namespace")
    return f"proposes at most {', '.join(caps)}, planning for {format_duration(limits.deadline)} at most"


def _stops(policy: Policy) -> Iterator[str]:
    """Numbers that leave nothing to be moved, whatever the cluster."""
    limits = {
        "limits.maxEvictions": policy.limits.max_evictions,
        "limits.maxEvictionsPerNode": policy.limits.max_evictions_per_node,
        "limits.maxEvictionsPerNamespace": policy.limits.max_evictions_per_namespace,
        "disruption.workloads.maxUnavailable": policy.disruption.workloads.max_unavailable,
    }
    for name, number in limits.items():
        if number is not None and int(str(number).removesuffix("%")) == 0:
            yield f"warning: no eviction is possible because {name} is {number}"


def _kinds(disruption: Disruption) -> str:
    kinds = {
        "single replicas": disruption.single_replicas,
        "ownerless pods": disruption.ownerless,
        "pods with local storage": disruption.local_storage,
        "pods without a PodDisruptionBudget": disruption.without_budget,
        "pods that are not ready": disruption.not_ready,
        **_volumes(disruption.persistent_volumes),
        **{f"pods of a {found.kind} ({found.group or 'core'})": Permission.ALLOW for found in disruption.owner_kinds},
    }
    allowed = [name for name, permission in kinds.items() if permission is Permission.ALLOW]
    denied = [name for name, permission in kinds.items() if permission is Permission.DENY]
    parts = [f"may move {_listed(allowed)}"] if allowed else []
    return "; ".join(parts + ([f"never moves {_listed(denied)}"] if denied else []))


def _volumes(volumes: PersistentVolumes) -> dict[str, Permission]:
    if not volumes.storage_classes:
        return {"pods with persistent volumes": Permission.DENY if volumes.denies_all else Permission.ALLOW}
    classes = ", ".join(volumes.storage_classes)
    return {
        f"pods with persistent volumes of storage class {classes}": Permission.ALLOW,
        "pods with other persistent volumes": Permission.DENY,
    }


def _listed(names: tuple[str, ...] | list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def method_sentences(disruption: Disruption) -> Iterator[str]:
    """One sentence a rule, in the order in which they are asked, then warnings; nothing where there are none."""
    for number, rule in enumerate(disruption.move_by, start=1):
        yield f"rule {number} of moveBy: {_pods(rule)} {_how(rule, disruption)}{_else(rule)}"
    methods = {rule.method for rule in disruption.move_by}
    ways = [word for word, method in _WORDS if method in methods]
    if ways:
        yield f"apply and run carry moves by {' and by '.join(ways)} out"
    for number, rule in enumerate(disruption.move_by, start=1):
        earlier = next((place for place, one in enumerate(disruption.move_by[: number - 1], 1) if _hides(one, rule)), 0)
        if earlier:
            yield f"warning: rule {number} of moveBy is never asked, since rule {earlier} names all its pods"


def _pods(rule: MoveRule) -> str:
    pods = "all pods" if rule.label_selector is None else f"pods with {describe(read_selector(rule.label_selector))}"
    return pods + (f" in {', '.join(rule.namespaces)}" if rule.namespaces is not None else "")


def _how(rule: MoveRule, disruption: Disruption) -> str:
    if rule.method is MoveMethod.SURGE:
        within, settle = map(format_duration, (disruption.surge.ready_within, disruption.surge.settle))
        return f"move by surge: a pod goes {settle} after its replacement is Ready, which may take {within}"
    if rule.method is MoveMethod.MIGRATE:
        within = format_duration(disruption.migration.within)
        return f"that their owner moves himself are moved by him, which may take {within}"
    return "are evicted"


def _else(rule: MoveRule) -> str:
    if rule.method is not MoveMethod.SURGE:
        return ""
    what = "it is left alone" if rule.otherwise is Otherwise.REFUSE else "it is evicted, under all rules of evictions"
    return f"; where that is not possible, {what}"


def _hides(one: MoveRule, other: MoveRule) -> bool:
    """Whether the first rule names every pod that the second does."""
    if one.method is MoveMethod.MIGRATE and other.method is not MoveMethod.MIGRATE:
        return False
    is_wider = one.namespaces is None or (other.namespaces is not None and set(other.namespaces) <= set(one.namespaces))
    return is_wider and (one.label_selector is None or one.label_selector == other.label_selector)
