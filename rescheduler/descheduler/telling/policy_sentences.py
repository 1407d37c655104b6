"""Says in sentences what a DeschedulerPolicy does."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.descheduler.arguments import DeschedulerArguments
from rescheduler.descheduler.evictor import DefaultEvictorArguments
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, EnabledProfile
from rescheduler.model.columns.selectors import describe


def policy_sentences(policy: DeschedulerPolicy) -> Iterator[str]:
    """Limits first, then each profile: who may go, and its plugins in running order with what is set of them."""
    fields = policy.fields
    yield "walks as descheduler 0.36.0 does; plan foretells it and evicts nothing"
    if policy.node_selector is not None:
        yield f"looks at nodes with {describe(policy.node_selector)} alone"
    limits = (
        ("in all", fields.max_no_of_pods_to_evict_total),
        ("from one node", fields.max_no_of_pods_to_evict_per_node),
        ("from one namespace", fields.max_no_of_pods_to_evict_per_namespace),
    )
    told = [f"{most} {where}" for where, most in limits if most is not None]
    yield f"evicts at most {', '.join(told)} in one cycle" if told else "no limit on the evictions of one cycle"
    for profile in policy.profiles:
        yield from _profile_sentences(profile)


def _profile_sentences(profile: EnabledProfile) -> Iterator[str]:
    name = f"profile {profile.name or '(without a name)'}"
    yield f"{name}: leaves alone {_protected(profile.evictor)}"
    for point, plugins in (("deschedule", profile.deschedule), ("balance", profile.balance)):
        for plugin, arguments in plugins:
            yield f"{name}, {point}: {plugin}{_told(arguments)}"
    if not (profile.deschedule or profile.balance):
        yield f"{name}: enables no plugin, so it does nothing"


def _protected(evictor: DefaultEvictorArguments) -> str:
    protections = ", ".join(sorted(evictor.protections)) or "no class of pods"
    return f"{protections}, and pods that nobody makes again{_told(evictor)}"


def _told(arguments: DeschedulerArguments) -> str:
    """Every argument that is set, as written."""
    written = arguments.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return f" ({', '.join(f'{name}: {_plain(value)}' for name, value in written.items())})" if written else ""


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_plain(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_plain, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
