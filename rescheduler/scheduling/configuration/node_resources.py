"""Whether the resources that a configuration names exist on any node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rescheduler.scheduling.configuration.settings import Configuration, ConfiguredProfile
from rescheduler.scheduling.reading.findings import choices, quoted


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
