"""What a scheduler's configuration means for predictions, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rescheduler.scheduling.configuration.kube_profile import uses_load
from rescheduler.scheduling.configuration.settings import Configuration, ConfiguredProfile, ConfiguredScore, Effect
from rescheduler.scheduling.reading.findings import choices, quoted


def configuration_sentences(configuration: Configuration) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For each profile a heading, and what is modelled, what is not, and what that means."""
    for profile in configuration.profiles.values():
        yield f"scheduler {profile.scheduler_name} ({configuration.form})", tuple(profile_sentences(profile))


def profile_sentences(profile: ConfiguredProfile) -> Iterator[str]:
    """One profile in sentences: what it does, one for each thing that is not modelled, and what predictions hold."""
    yield f"filters nodes by {', '.join(profile.filters)}" if profile.filters else "filters no nodes"
    yield f"scores nodes by {', '.join(map(_score, profile.scores))}" if profile.scores else "scores no nodes"
    yield from _additions(profile)
    if uses_load(profile):
        source = f" (the scheduler reads it from {profile.load_source})" if profile.load_source else ""
        yield f"goes by measured load{source}; without a usage provider in the policy requests stand in for it"
    share = profile.percentage_of_nodes_to_score
    if share == 0:
        yield "of 100 nodes or more, looks at a part only: there a destination is one of several"
    elif share < 100:
        yield f"of 100 nodes or more, looks for {share} % of them only: there a destination is one of several"
    for note in profile.not_modelled:
        yield f"{note.name}: {note.meaning}"
    yield _verdict(profile)


def _score(score: ConfiguredScore) -> str:
    setting = score.score.setting
    return f"{score.plugin} x{score.weight}{f' ({setting})' if setting else ''}"


def _additions(profile: ConfiguredProfile) -> Iterator[str]:
    """What the profile adds to pods."""
    if profile.added_affinity is not None:
        yield "adds node affinity of its own to every pod"
    if profile.usage_threshold is not None:
        found = profile.usage_threshold
        told = [
            f"{name} {most:g} %" for name, most in (("cpu", found.cpu), ("memory", found.memory)) if most is not None
        ]
        yield f"keeps pods off nodes with measured load above {' or '.join(told)}"
    if profile.has_own_defaults:
        rules = [f"{rule.topology_key} within {rule.max_skew} ({rule.when_unsatisfiable})"
                 for rule in profile.default_constraints]  # fmt: skip
        yield f"spreads pods without constraints of their own by {', '.join(rules) or 'nothing'}"
    ignored = [*profile.ignored_resources, *(f"{group}/*" for group in profile.ignored_resource_groups)]
    if ignored:
        yield f"does not look whether nodes have room for {', '.join(ignored)}"


def _verdict(profile: ConfiguredProfile) -> str:
    effects = {note.effect for note in profile.not_modelled}
    if any(note.effect is Effect.UNKNOWN and not (note.resources or note.pod_labels) for note in profile.not_modelled):
        return "predictions: none; its pods are never moved, and no place is promised to them"
    some = " but for the pods named above" if Effect.UNKNOWN in effects else ""
    if Effect.ESTIMATE in effects or uses_load(profile):
        return f"predictions: where a pod fits is known{some}; which of those nodes it gets is an estimate"
    return f"predictions: where a pod fits and which node it gets are known{some}"


def resources_unknown(configuration: Configuration, resource_names: Iterable[str]) -> tuple[str, ...]:
    """One warning for each resource that a profile weighs and no node offers; ``resource_names``: all they offer."""
    offered = set(resource_names)
    return tuple(warning for profile in configuration.profiles.values() for warning in _warnings(profile, offered))


def _warnings(profile: ConfiguredProfile, offered: set[str]) -> Iterator[str]:
    for plugin, names in profile.weighed_resources.items():
        for name in dict.fromkeys(names):
            if name not in offered:
                advice = choices(name, sorted(offered)) if offered else "no node offers anything"
                yield (
                    f"scheduler {profile.scheduler_name}: {plugin} weighs {quoted(name)}, which no node offers, "
                    f"so it never counts; {advice}"
                )
