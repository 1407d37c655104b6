"""Several configurations as one, and kube-scheduler's own defaults where nothing is configured."""

from __future__ import annotations

from collections.abc import Iterable

from rescheduler.scheduling.configuration.extenders import ExtenderSettings
from rescheduler.scheduling.configuration.kube_profile import profile_of
from rescheduler.scheduling.configuration.plugin_config import PluginArguments
from rescheduler.scheduling.configuration.plugin_sets import default_sets, expanded
from rescheduler.scheduling.configuration.settings import Configuration, ConfiguredProfile
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER
from rescheduler.scheduling.reading.documents import ConfigurationError, unusable
from rescheduler.scheduling.reading.findings import quoted

BUILT_IN = "kube-scheduler's defaults"


def built_in(scheduler_name: str = DEFAULT_SCHEDULER) -> Configuration:
    """kube-scheduler as it comes, under a name of choice."""
    expansion = expanded(default_sets("v1"))
    profile = profile_of(scheduler_name, expansion, PluginArguments(), ExtenderSettings(), 0)
    return Configuration(BUILT_IN, {scheduler_name: profile})


def combined(configurations: Iterable[tuple[str, Configuration]]) -> Configuration:
    """All profiles together, by pairs of where each was read and what it says.

    Where none is for ``default-scheduler``, kube-scheduler's defaults are. Raises ConfigurationError for a scheduler
    that is configured twice.
    """
    found: dict[str, ConfiguredProfile] = {}
    read_at: dict[str, str] = {}
    forms: list[str] = []
    warnings: list[str] = []
    for where, configuration in configurations:
        for name, profile in configuration.profiles.items():
            if name in found:
                raise _twice(name, read_at[name], where)
            found[name], read_at[name] = profile, where
        forms.append(configuration.form)
        warnings += configuration.warnings
    if DEFAULT_SCHEDULER not in found:
        found.update(built_in().profiles)
        forms.append(BUILT_IN)
    return Configuration("; ".join(dict.fromkeys(forms)), found, tuple(warnings))


def _twice(name: str, first: str, second: str) -> ConfigurationError:
    advice = "keep one, or give each its own schedulerName"
    return unusable(second, f"scheduler {quoted(name)} is configured in {first} already; {advice}")
