"""Converts a whole DeschedulerPolicy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from rescheduler.descheduler.arguments import DeschedulerArguments, NamespaceChoice
from rescheduler.descheduler.converting.draft import PolicyDraft
from rescheduler.descheduler.converting.evictor import convert_evictor, rules_of
from rescheduler.descheduler.converting.plugins import convert_plugin
from rescheduler.descheduler.plugins.node_utilization import LowNodeUtilizationArguments
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, EnabledProfile
from rescheduler.model.columns.selectors import describe
from rescheduler.policy.fields.policy import SYSTEM_NAMESPACES
from rescheduler.policy.fields.values import LARGEST_COUNT, NamespaceName

_NAMESPACE: Final[TypeAdapter[str]] = TypeAdapter(NamespaceName)
LIMITS: Final = (
    ("max_no_of_pods_to_evict_total", "maxNoOfPodsToEvictTotal", "maxEvictions"),
    ("max_no_of_pods_to_evict_per_node", "maxNoOfPodsToEvictPerNode", "maxEvictionsPerNode"),
    ("max_no_of_pods_to_evict_per_namespace", "maxNoOfPodsToEvictPerNamespace", "maxEvictionsPerNamespace"),
)


def converted(policy: DeschedulerPolicy, file: str) -> str:
    """The ReschedulerPolicy that comes nearest, as text, in mode DryRun."""
    draft = PolicyDraft()
    for path, profile in _paths(policy):
        convert_evictor(draft, f"{path} DefaultEvictor", profile.evictor)
    ran: list[tuple[str, str, DeschedulerArguments]] = [*_plugins(policy)]
    for path, name, arguments in ran:
        convert_plugin(draft, f"{path} {name}", name, arguments)
    _convert_top(draft, policy)
    _convert_places(draft, [(f"{path} {name}", arguments) for path, name, arguments in ran])
    _convert_providers(draft, policy)
    if any(profile.evictor != policy.profiles[0].evictor for profile in policy.profiles):
        text = "there is one scope and one set of limits for all objectives; of several profiles the narrowest counts"
        draft.nothing("profiles", text)
    if not draft.has_objectives:
        text = "no plugin of the file is about placement, so that nothing is moved; see the end of this file"
        draft.put("limits", "maxEvictions", 0, text)
    for finding in policy.findings:
        draft.nothing(finding.path or "the file", f"{finding.text} (descheduler reads over it, or ends with an error)")
    heading = (
        f"Converted from {file}. What the file says is carried over where there is a counterpart; where it says "
        "nothing, the careful default stays. Nothing is evicted by it before mode says Execute: try "
        "rescheduler plan --policy THIS."
    )
    return draft.text(_name(policy), heading)


def _paths(policy: DeschedulerPolicy) -> Iterator[tuple[str, EnabledProfile]]:
    for number, profile in enumerate(policy.profiles):
        yield f"profiles[{number}]", profile


def _plugins(policy: DeschedulerPolicy) -> Iterator[tuple[str, str, DeschedulerArguments]]:
    """In running order."""
    for point in ("deschedule", "balance"):
        for path, profile in _paths(policy):
            yield from ((path, name, arguments) for name, arguments in getattr(profile, point))


def _name(policy: DeschedulerPolicy) -> str:
    names = [profile.name for profile in policy.profiles if profile.name]
    return (names[0][:240] if names else "descheduler") + "-converted"


def _convert_top(draft: PolicyDraft, policy: DeschedulerPolicy) -> None:
    fields = policy.fields
    for own, theirs, ours in LIMITS:
        most = getattr(fields, own)
        if most is not None:
            draft.put_least("limits", ours, min(most, LARGEST_COUNT), theirs)
    if fields.max_no_of_pods_to_evict_total is None:
        draft.leave("limits", "maxEvictions", "maxEvictions: 20, the default: descheduler has no limit here")
    if policy.node_selector is not None:
        rules = [
            {"key": rule.key, "operator": rule.operator, **({"values": list(rule.values)} if rule.values else {})}
            for rule in policy.node_selector.requirements
        ]
        if all(rule["operator"] in ("In", "NotIn", "Exists", "DoesNotExist") for rule in rules) and rules:
            text = "nodeSelector: only pods on these nodes are moved; they may go to any other"
            draft.put("scope", "nodeSelector", {"matchExpressions": rules}, text)
        else:
            draft.nothing("nodeSelector", f"{describe(policy.node_selector)} cannot be written as a selector here")
    if fields.grace_period_seconds is not None:
        draft.nothing("gracePeriodSeconds", "each pod keeps its own grace period")
    if fields.eviction_failure_event_notification:
        draft.nothing("evictionFailureEventNotification", "always told: in the result, the log and the history")


def _convert_places(draft: PolicyDraft, ran: Sequence[tuple[str, DeschedulerArguments]]) -> None:
    """Namespaces and labels of all plugins: the scope is one for all objectives, so the narrowest counts."""
    choices = [(path, found) for path, one in ran if (found := _namespaces(one)) is not None]
    exclude = sorted({name for _, found in choices for name in found.exclude})
    included = [set(found.include) for _, found in choices if found.include]
    where = ", ".join(dict.fromkeys(path for path, found in choices if found.include or found.exclude))
    places: dict[str, Any] = {}
    if included:
        both = sorted(_valid(draft, sorted(set.intersection(*included) - set(exclude)), where))
        if both:
            places["include"] = both
        else:
            text = "the plugins' namespaces have none in common, so that nothing is moved; write a policy for each"
            draft.put("limits", "maxEvictions", 0, text)
        if both and SYSTEM_NAMESPACES.issuperset(both):
            draft.put("scope", "systemNamespaces", "Allow", f"{where}: only system namespaces are named")
    elif exclude:
        places["exclude"] = _valid(draft, exclude, where)
    if places.get("include") or places.get("exclude"):
        draft.put(
            "scope",
            "namespaces",
            places,
            f"{_field_names(ran)} of {where}; the scope is one for all objectives, so the narrowest counts",
        )
    selectors = [found for _, one in ran if (found := getattr(one, "label_selector", None)) is not None]
    for selector in dict.fromkeys(map(str, selectors)):
        found = next(one for one in selectors if str(one) == selector)
        draft.put_selector(rules_of(found), "labelSelector of a plugin; the scope is one for all")


def _field_names(ran: Sequence[tuple[str, DeschedulerArguments]]) -> str:
    """How the file calls what names namespaces."""
    fields = {"namespaces": "namespaces", "evictable_namespaces": "evictableNamespaces"}
    there = [name for own, name in fields.items() if any(_named(getattr(one, own, None)) for _, one in ran)]
    return " and ".join(there)


def _namespaces(arguments: DeschedulerArguments) -> NamespaceChoice | None:
    for field in ("namespaces", "evictable_namespaces"):
        found: NamespaceChoice | None = getattr(arguments, field, None)
        if _named(found):
            return found
    return None


def _named(found: NamespaceChoice | None) -> bool:
    return found is not None and bool(found.include or found.exclude)


def _valid(draft: PolicyDraft, names: Sequence[str], where: str) -> list[str]:
    """Those that a namespace can be called."""
    valid = []
    for name in names:
        try:
            valid.append(_NAMESPACE.validate_python(name))
        except ValidationError:
            draft.nothing(f"{where}: namespace {name!r}", "no namespace can have this name")
    return valid


def _convert_providers(draft: PolicyDraft, policy: DeschedulerPolicy) -> None:
    wanted = {
        arguments.metrics_utilization.provider
        for _, _, arguments in _plugins(policy)
        if isinstance(arguments, LowNodeUtilizationArguments) and arguments.metrics_utilization is not None
    }
    providers: list[dict[str, Any]] = []
    if "KubernetesMetrics" in wanted:
        providers.append({"name": "MetricsServer"})
    for provider in policy.fields.metrics_providers:
        server = provider.prometheus
        if provider.source != "Prometheus" or server is None or "Prometheus" not in wanted:
            continue
        providers.append({"name": "Prometheus", "args": {"address": server.url}})
        if server.auth_token is not None:
            text = "a policy names a file: mount the secret, and write its path into the provider's arguments"
            draft.nothing("metricsProviders, authToken.secretReference", text)
    if providers:
        text = "metricsProviders that a plugin asks; usage over a window, not a smoothed sample"
        draft.put("usage", "providers", providers, text)
