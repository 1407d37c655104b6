"""When a daemon under a policy would run a round, in sentences of its triggers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rescheduler.extension_points import Trigger
from rescheduler.extension_points.plugin_list import PluginList
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.plugins import arguments_in, asked


def trigger_sentences(policy: Policy, triggers: PluginList[Trigger]) -> Iterator[str]:
    """One sentence for each trigger, and its warnings after all of them. Raises PluginError."""
    whens = _answers(policy, triggers, "sentence", lambda kind, args: [str(kind.sentence(args))])
    for number, (name, when) in enumerate(whens):
        yield f"as a daemon {'also ' if number else ''}runs a round {when} ({name})"
    for _, warning in _answers(policy, triggers, "warnings", lambda kind, args: kind.warnings(args, policy)):
        yield f"warning: {warning}"


def round_times(policy: Policy, triggers: PluginList[Trigger], now: float) -> tuple[str, ...]:
    """When the policy's triggers will ask next after a moment, as far as that is known. Raises PluginError."""
    return tuple(
        text for _, text in _answers(policy, triggers, "forecast", lambda kind, args: kind.forecast(args, now))
    )


def _answers(
    policy: Policy,
    triggers: PluginList[Trigger],
    what: str,
    question: Callable[[type[Trigger], Any], Iterable[str]],
) -> Iterator[tuple[str, str]]:
    for entry in policy.triggers:
        kind, args = triggers.get(entry.name), arguments_in(triggers, entry.name, entry.args)
        for text in asked(triggers, entry.name, what, lambda kind=kind, args=args: tuple(question(kind, args))):  # type: ignore[misc]
            yield entry.name, text
