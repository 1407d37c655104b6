"""Every number in force is told with where it comes from, and what the mode may do is told first."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.daemon.plugins import PLUGINS
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.loader import loaded_with_places
from rescheduler.policy.telling.numbers_in_force import newly_binding, numbers_in_force, what_it_may_do
from tests.unit.policy.policies import policy

HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"


def told(folder: Path, *texts: str) -> dict[str, str]:
    """The lines of policies that are given together, by their field."""
    files = []
    for number, text in enumerate(texts):
        files.append(folder / f"{number}.yaml")
        files[-1].write_text(HEAD + text, encoding="utf-8")
    lines = numbers_in_force(*loaded_with_places(files, PLUGINS))
    return {field: rest.replace(f"{folder}/", "") for field, _, rest in (line.partition(": ") for line in lines)}


def test_the_careful_values_are_told_with_their_origin(tmp_path: Path) -> None:
    """Written as the file has them, or by default; an empty value is none."""
    found = told(tmp_path, "scope: {minimumAge: 90s}\ndisruption:\n  rates: {perHour: unlimited, perDay: }\n")
    assert found["scope.minimumAge"] == "90s (0.yaml:3)"
    assert found["disruption.rates.perHour"] == "unlimited (0.yaml:5)"
    assert found["disruption.rates.perDay"] == "100 (default)"
    assert found["disruption.rates.perWorkloadPerHour"] == "2 (default)"
    assert found["disruption.rampUp.start"] == "1 (default)"
    assert found["disruption.rampUp.window"] == "1h (default)"
    assert found["limits.maxEvictionsPerNode"] == "none (default)"
    assert told(tmp_path, "disruption: {rampUp: unlimited}")["disruption.rampUp"] == "unlimited (0.yaml:3)"


def test_whatever_a_file_sets_is_named_wherever_it_stands(tmp_path: Path) -> None:
    """A choice, a selector, a list, a switch: not only numbers, and not only arguments of plugins."""
    found = told(
        tmp_path,
        """\
scope:
  namespaces: {exclude: [team-a]}
  labelSelector: {matchLabels: {app: web}}
disruption: {singleReplicas: Allow}
health: {headRoom: 10%}
""",
    )
    assert found["scope.namespaces.exclude[0]"] == "team-a (0.yaml:4)"
    assert found["scope.labelSelector.matchLabels.app"] == "web (0.yaml:5)"
    assert found["disruption.singleReplicas"] == "Allow (0.yaml:6)"
    assert found["health.headRoom"] == "10% (0.yaml:7)"


def test_of_several_policies_the_one_that_wins_is_named(tmp_path: Path) -> None:
    """Also where a later one takes a value back."""
    first = "limits: {maxEvictions: 5, deadline: 1m30s}\n"
    found = told(tmp_path, first, "# more\nlimits: {maxEvictions: 7}\n", "limits: {deadline: }\n")
    assert found["limits.maxEvictions"] == "7 (1.yaml:4)"
    assert found["limits.deadline"] == "10s (default)"


def test_every_argument_that_is_set_is_named(tmp_path: Path) -> None:
    """Numbers or not; of triggers, objectives, budgets and providers."""
    found = told(
        tmp_path,
        """\
triggers:
- name: PendingPods
  args: {olderThan: 1m30s}
objectives:
- name: SpreadLoad
  args: {statistic: mean, target: {cpu: 70%}}
usage:
  providers: [{name: Prometheus, args: {address: "http://127.0.0.1:9090"}}]
disruption:
  budgets: [{name: a, per: Node, rate: {maxEvictions: 3, window: 60m}}]
""",
    )
    assert found["triggers[0].args.olderThan"] == "1m30s (0.yaml:5)"
    assert found["objectives[0].args.statistic"] == "mean (0.yaml:8)"
    assert found["objectives[0].args.target.cpu"] == "70% (0.yaml:8)"
    assert found["usage.providers[0].args.address"] == "http://127.0.0.1:9090 (0.yaml:10)"
    assert found["disruption.budgets[0].per"] == "Node (0.yaml:12)"
    assert found["disruption.budgets[0].rate.window"] == "60m (0.yaml:12)"
    assert "metadata.name" not in found
    assert "triggers[0].name" not in found


def test_without_a_file_everything_is_a_default() -> None:
    """Triggers with their arguments too."""
    lines = tuple(numbers_in_force(Policy()))
    assert all(line.endswith(" (default)") for line in lines)
    assert "triggers[0].args.every: 5m (default)" in lines


BOUNDS = "at most 20 pods an hour, 100 a day, 2 of one workload an hour, of pods that are 5m old or older"
SLOWLY = "beginning with 1 in 1h, twice as many after each 24h without a failure"
CARELESS = """
mode: Execute
scope: {minimumAge: 0s}
disruption: {rampUp: unlimited, rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited}}
"""
NO_BOUNDS = "any number of pods an hour, any number a day, any number of one workload, of pods of any age"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("", "DryRun: evicts nothing"),
        ("mode: Approve", f"Approve: evicts what a person has approved, {BOUNDS}"),
        ("mode: Execute", f"Execute: evicts without asking, {BOUNDS}, {SLOWLY}"),
        (CARELESS, f"Execute: evicts without asking, {NO_BOUNDS}, from the start"),
    ],
)
def test_what_it_may_do_begins_with_the_mode(body: str, sentence: str) -> None:
    """All that bounds evictions in time, or that nothing does."""
    assert what_it_may_do(policy(body)) == sentence


def test_what_binds_now_is_what_a_policy_does_not_write() -> None:
    """With how it is turned off; an empty value is silence."""
    words = tuple(newly_binding(policy()))
    assert [word.partition(":")[0] for word in words] == [
        "scope.minimumAge", "disruption.rates.perHour", "disruption.rates.perDay",
        "disruption.rates.perWorkloadPerHour", "disruption.rampUp",
        "scope.systemNamespaces", "disruption.ownerKinds", "disruption.notReady",
    ]  # fmt: skip
    assert all("for none" in word or "write Allow" in word or "name the kinds" in word for word in words)
    assert tuple(newly_binding(policy("scope: {minimumAge: }\ndisruption: {rates: {perHour: }, rampUp: }"))) == words
    everything = (
        "scope: {minimumAge: 0s, systemNamespaces: Deny}\ndisruption: {rampUp: {start: 1}, ownerKinds: [], "
        "notReady: Deny, rates: {perHour: 1, perDay: 2, perWorkloadPerHour: 3}}"
    )
    assert tuple(newly_binding(policy(everything))) == ()


@pytest.mark.parametrize(
    ("in_use", "field"),
    [
        ("usage: {providers: [{name: MetricsServer}]}", "usage.trust.maximumAge"),
        ("disruption: {moveBy: [{method: Surge}]}", "disruption.surge.readyWithin"),
        ("disruption: {moveBy: [{method: Migrate}]}", "disruption.migration.within"),
        ("guidance: Hold", "hold.deadline"),
        ("mode: Execute", "leaderElection.leaseDuration"),
        ("mode: Approve", "approval.expires"),
        ("mode: Execute\nautoscaler: {firstTry: On}", "autoscaler.firstTryEvictions"),
        ("autoscaler: {scaleDown: Annotate}", "autoscaler.offer"),
    ],
)
def test_a_default_is_told_only_where_its_part_does_something(tmp_path: Path, in_use: str, field: str) -> None:
    """It binds nobody under a policy that does not use it."""
    assert told(tmp_path, in_use)[field].endswith("(default)")
    assert field not in told(tmp_path, "guidance: Predict")


def test_what_a_file_writes_is_told_even_where_it_does_nothing(tmp_path: Path) -> None:
    """Whoever wrote it has to see that it was read."""
    assert told(tmp_path, "approval: {expires: 2h}")["approval.expires"] == "2h (0.yaml:3)"
