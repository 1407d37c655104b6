"""Short ways to read configurations in tests."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.configuration import (
    Configuration,
    ConfigurationError,
    ConfiguredProfile,
    read_configuration,
)

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def kube(body: str, version: str = "v1") -> str:
    """A KubeSchedulerConfiguration with this text below its head."""
    return V1.replace("/v1", f"/{version}") + body


def read(text: str, scheduler_name: str | None = None) -> Configuration:
    """Read a text named ``conf``."""
    return read_configuration(text, "conf", scheduler_name=scheduler_name)


def only(text: str, scheduler_name: str | None = None) -> ConfiguredProfile:
    """The one profile of a text."""
    (profile,) = read(text, scheduler_name).profiles.values()
    return profile


def refusal(text: str, scheduler_name: str | None = None) -> str:
    """What is said of a text that its scheduler would refuse."""
    with pytest.raises(ConfigurationError) as caught:
        read(text, scheduler_name)
    return str(caught.value)


def weights(profile: ConfiguredProfile) -> dict[str, int]:
    """Weights of the scores."""
    return {score.plugin: score.weight for score in profile.scores}


def argument(profile: ConfiguredProfile, plugin: str) -> object:
    """How one score is set: its arguments, or the score itself where it has none of their own."""
    found = next(score.score for score in profile.scores if score.plugin == plugin)
    return getattr(found, "arguments", found)


def configured(plugin: str, arguments: str) -> str:
    """A profile that configures one plugin; ``arguments`` are lines of its ``args``."""
    indented = "".join(f"      {line}\n" for line in arguments.splitlines())
    return kube(f"profiles:\n- pluginConfig:\n  - name: {plugin}\n    args:\n{indented}")


def with_plugins(plugins: str, version: str = "v1") -> str:
    """A profile with these lines below ``plugins``."""
    indented = "".join(f"    {line}\n" for line in plugins.splitlines())
    return kube(f"profiles:\n- plugins:\n{indented}", version)
