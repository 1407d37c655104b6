"""Triggers in a policy: what each takes, what is told of them, and that none of it is guessed."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml

from rescheduler.daemon.plugins import policy_schema, policy_sentences
from rescheduler.daemon.triggers import TRIGGERS, make_triggers, watched_objectives
from rescheduler.daemon.triggers.hot_node import HotNodeArgs
from rescheduler.daemon.triggers.schedule import ScheduleArgs
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.plugins import arguments_in
from tests.builders import NOW
from tests.unit.policy.policies import HEAD, policy


def written(*entries: str) -> Policy:
    """A policy with these triggers."""
    return policy(f"triggers: [{', '.join(entries)}]")


def arguments(entry: str) -> Any:
    """The arguments of a policy's one trigger."""
    (trigger,) = written(entry).triggers
    return arguments_in(TRIGGERS, trigger.name, trigger.args)


def test_without_triggers_a_round_runs_every_five_minutes_and_on_demand() -> None:
    """So a policy of the first page does something under a daemon."""
    assert [trigger.name for trigger in policy().triggers] == ["Schedule", "OnDemand"]
    default = policy().triggers[0]
    assert arguments_in(TRIGGERS, default.name, default.args) == ScheduleArgs(every=300.0)


def test_every_trigger_that_a_policy_can_name_can_be_made() -> None:
    """Each as it is by default."""
    made = make_triggers(written(*(f"{{name: {name}}}" for name in TRIGGERS.own)), 0, NOW)
    assert [trigger.name for trigger in made] == list(TRIGGERS.own)


def test_the_forms_of_the_contract_are_read() -> None:
    """An interval, or cron with its zone; an age for pods."""
    assert arguments("{name: Schedule, args: {every: 90s}}").interval_seconds == 90
    night = arguments('{name: Schedule, args: {cron: "0 22 * * 1-5", timeZone: Europe/Berlin}}')
    assert (night.cron, night.time_zone) == ("0 22 * * 1-5", "Europe/Berlin")
    assert arguments("{name: PendingPods, args: {olderThan: 45s}}").older_than == 45
    assert arguments("{name: PendingPods, args: {olderThan: 0s, debounce: 0}}").older_than == 0


def test_what_is_left_out_has_its_default() -> None:
    """An empty field too."""
    assert arguments("{name: HotNode, args: {above: {cpu: 0.7}}}") == HotNodeArgs(above={"cpu": 0.7})
    assert arguments("{name: HotNode, args: {for: , above: }}") == HotNodeArgs()
    assert arguments("{name: HotNode, args: {for: 1m}}").lasting == 60
    assert written("{name: OnDemand, args: }") == written("{name: OnDemand}")


def test_a_trigger_may_stand_twice_if_it_says_something_else() -> None:
    """Two schedules, say."""
    both = written("{name: Schedule, args: {every: 1h}}", '{name: Schedule, args: {cron: "@daily", timeZone: UTC}}')
    assert len(make_triggers(both, 0, NOW)) == 2


def test_objectives_that_are_watched_are_those_of_some_drift() -> None:
    """All of the policy's where it names none; none without such a trigger."""
    objectives = "objectives: [{name: MakeRoom}, {name: FaultDomains}]\n"

    def watched(found: Policy) -> frozenset[str]:
        return watched_objectives(make_triggers(found, 0, NOW))

    named = "triggers: [{name: ObjectiveDrift, args: {of: [FaultDomains, EmptyNodes]}}]"
    assert watched(policy(objectives + named)) == {"FaultDomains"}
    assert watched(policy(objectives + "triggers: [{name: ObjectiveDrift}]")) == {"MakeRoom", "FaultDomains"}
    assert watched(policy(objectives)) == frozenset()


TOLD = [
    ("{name: Schedule}", "as a daemon runs a round every 5m (Schedule)"),
    (
        '{name: Schedule, args: {cron: "0 22 * * *", timeZone: UTC, jitter: 30s}}',
        "as a daemon runs a round at 0 22 * * * in the time zone UTC, by up to 30s later (Schedule)",
    ),
    ("{name: PendingPods}", "as a daemon runs a round when pods have been unschedulable for 30s (PendingPods)"),
    ("{name: NodesAdded}", "as a daemon runs a round when new nodes have been ready for 60s (NodesAdded)"),
    (
        "{name: NodesAdded, args: {atLeast: 3}}",
        "as a daemon runs a round when 3 new nodes or more have been ready for 60s (NodesAdded)",
    ),
    (
        "{name: HotNode}",
        "when a node has used more than 85% of its cpu or used more than 90% of its memory for 5m (HotNode)",
    ),
    (
        "{name: HotNode, args: {above: {cpuPressure: 20%, disk: 90%}, for: 1h}}",
        "when a node has waited for a cpu in more than 20% of the time or used its disk in more than 90% of it for 1h",
    ),
    (
        "{name: AutoscalerEvents, args: {on: [NotTriggerScaleUp]}}",
        "as a daemon runs a round when an autoscaler says NotTriggerScaleUp (AutoscalerEvents)",
    ),
    ("{name: OnDemand}", "by the annotation rescheduler.dev/reschedule (OnDemand)"),
    ("{name: AntagonistReport}", "when antagonists have come to share a node (AntagonistReport)"),
    (
        "{name: ObjectiveDrift, args: {of: [MakeRoom], by: 25%}}",
        "as a daemon runs a round when MakeRoom has become worse by more than 25% (ObjectiveDrift)",
    ),
]


@pytest.mark.parametrize(("entry", "sentence"), TOLD, ids=[each[0] for each in TOLD])
def test_check_says_what_a_trigger_does(entry: str, sentence: str) -> None:
    """In words."""
    assert sentence in "\n".join(policy_sentences(written(entry)))


IN_VAIN = [
    ("{name: HotNode}", "", "warning: HotNode never asks for a round, since usage.providers names no source of load"),
    ("{name: PendingPods}", "objectives: [{name: EmptyNodes}]", "do nothing about it without the objective MakeRoom"),
    ("{name: AntagonistReport}", "", "do nothing about it without the objective SeparateAntagonists"),
    ("{name: ObjectiveDrift, args: {of: [SpreadLoad]}}", "", "warning: ObjectiveDrift cannot look at SpreadLoad"),
    ("{name: Schedule, args: {every: 5s}}", "", "rounds are due every 5s, though planning one may take 10s"),
]


@pytest.mark.parametrize(("entry", "more", "sentence"), IN_VAIN, ids=[each[0] for each in IN_VAIN])
def test_check_warns_of_triggers_that_come_to_nothing(entry: str, more: str, sentence: str) -> None:
    """They are no mistake in the file, but surely not what was meant."""
    told = [text for text in policy_sentences(policy(f"triggers: [{entry}]\n{more}")) if text.startswith("warning:")]
    assert any(sentence in text for text in told)


def test_check_does_not_warn_without_a_reason() -> None:
    """With everything that the triggers need."""
    whole = policy(
        """
        triggers: [{name: HotNode}, {name: PendingPods}, {name: AntagonistReport}, {name: ObjectiveDrift}]
        usage: {providers: [{name: MetricsServer}]}
        objectives: [{name: MakeRoom}, {name: SeparateAntagonists}]
        """
    )
    assert not any(text.startswith("warning:") for text in policy_sentences(whole))


@pytest.mark.parametrize("entry", [each[0] for each in TOLD])
def test_the_schema_takes_what_the_loader_takes(entry: str) -> None:
    """An editor finds no fault with it."""
    quoted = entry.replace("{on:", '{"on":')  # for the library of this test, on is true
    data = yaml.safe_load(HEAD + f"triggers: [{quoted}]")
    jsonschema.Draft202012Validator(policy_schema()).validate(data)


@pytest.mark.parametrize(
    "entry",
    ["{args: {}}", "{name: Often}", "{name: OnDemand, args: {a: 1}}", "{name: NodesAdded, args: {atLeast: 0}}",
     "{name: PendingPods, args: {olderThan: 5}}", "{name: ObjectiveDrift, args: {of: [Often]}}"],
)  # fmt: skip
def test_the_schema_refuses_what_the_loader_refuses(entry: str) -> None:
    """Each with the arguments of its own trigger."""
    validator = jsonschema.Draft202012Validator(policy_schema())
    assert not validator.is_valid(yaml.safe_load(HEAD + f"triggers: [{entry}]"))


def test_a_policy_written_out_keeps_its_triggers() -> None:
    """As it would be written into a report."""
    again = json.loads(Policy().model_dump_json(by_alias=True))["triggers"]
    assert again == [{"name": "Schedule", "args": {"every": "5m"}}, {"name": "OnDemand", "args": {}}]
