"""A field that says nothing has its default, which is the careful one: limits are only taken off in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.daemon.plugins import PLUGINS
from rescheduler.policy.fields.policy import Policy, budgets_in_force, minimum_age_in_force
from rescheduler.policy.reading.loader import loaded_with_places
from rescheduler.policy.telling.numbers_in_force import newly_binding, numbers_in_force
from tests.unit.policy.policies import HEAD, policy, problem

NOTHING = ("", "null", "~", '""', "''")
RATES = ("perHour", "perDay", "perWorkloadPerHour")
CAREFUL = (
    "scope.minimumAge", "disruption.rates", "disruption.rates.perHour", "disruption.rates.perDay",
    "disruption.rates.perWorkloadPerHour", "disruption.rampUp", "disruption.rampUp.start", "disruption.rampUp.window",
    "disruption.rampUp.doubleEvery", "scope.systemNamespaces", "disruption.ownerKinds", "disruption.notReady",
    "disruption", "scope", "mode", "guidance",
)  # fmt: skip
"""Fields that bind ``run`` where a policy says nothing, or say how far it goes."""
OTHERS = (
    "limits", "limits.maxEvictions", "limits.inFlight", "disruption.workloads", "disruption.workloads.maxUnavailable",
    "disruption.breaker", "disruption.breaker.failures", "disruption.backOff.rest", "disruption.budgets",
    "disruption.moveBy", "disruption.persistentVolumes", "disruption.unsettled", "health", "health.settle",
    "health.headRoom", "hold.deadline", "triggers", "objectives", "usage", "autoscaler", "scope.namespaces.include",
    "scope.labelSelector", "scope.priorityBelow", "api", "archive",
)  # fmt: skip


def body(field: str, value: str) -> str:
    """A policy that sets one field, all on one line."""
    text = value
    for step in reversed(field.split(".")):
        text = f"{{{step}: {text}}}"
    return text[1:-1]


@pytest.mark.parametrize("value", NOTHING)
@pytest.mark.parametrize("field", [*CAREFUL, *OTHERS])
def test_a_field_that_says_nothing_has_its_default(field: str, value: str) -> None:
    """However nothing is written; and it counts as not written, so that a person's command is not bound by it."""
    found = policy(body(field, value))
    assert found == Policy()
    assert tuple(newly_binding(found)) == tuple(newly_binding(Policy()))
    assert budgets_in_force(found, is_daemon=False) == ()
    assert len(budgets_in_force(found, is_daemon=True)) == 3
    assert (minimum_age_in_force(found, is_daemon=False), minimum_age_in_force(found, is_daemon=True)) == (0.0, 300.0)


@pytest.mark.parametrize("field", ["disruption.rates", "disruption.rampUp", "disruption", "scope", "limits", "health"])
def test_an_empty_map_of_fields_is_nothing_too(field: str) -> None:
    """It says that the defaults hold: a limit is never taken off by it."""
    assert policy(body(field, "{}")) == Policy()


@pytest.mark.parametrize("value", ['""', "''"])
def test_an_empty_text_in_quotes_is_told_as_the_default(tmp_path: Path, value: str) -> None:
    """``check`` does not say that a number comes from a line that has none."""
    file = tmp_path / "p.yaml"
    file.write_text(f"{HEAD}disruption: {{rates: {{perHour: {value}}}}}\n", encoding="utf-8")
    assert "disruption.rates.perHour: 20 (default)" in tuple(numbers_in_force(*loaded_with_places([file], PLUGINS)))


def test_an_empty_text_takes_the_value_of_an_earlier_file_back(tmp_path: Path) -> None:
    """As null does."""
    files = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    for file, value in zip(files, ("unlimited", '""'), strict=True):
        file.write_text(f"{HEAD}disruption: {{rates: {{perHour: {value}}}}}\n", encoding="utf-8")
    assert loaded_with_places(files, PLUGINS)[0].disruption.rates.per_hour == 20


@pytest.mark.parametrize(("field", "value"), [("scope.minimumAge", "0s"), ("scope.minimumAge", "0")])
def test_the_age_is_taken_off_in_words(field: str, value: str) -> None:
    """And by nothing else."""
    assert minimum_age_in_force(policy(body(field, value)), is_daemon=True) == 0.0


def test_rates_and_ramp_up_are_taken_off_by_one_word() -> None:
    """Each by itself; the others stay."""
    for name in RATES:
        found = policy(body(f"disruption.rates.{name}", "unlimited"))
        names = [str(budget.name).rpartition(".")[2] for budget in budgets_in_force(found, is_daemon=True)]
        assert names == [one for one in RATES if one != name]
    assert policy(body("disruption.rampUp", "unlimited")).disruption.ramp_up is None


@pytest.mark.parametrize("value", ["0.5", "-1", "none", "false", "Unlimited", "{}", "[]", '" "'])
def test_whatever_is_neither_number_nor_word_is_refused(value: str) -> None:
    """Nothing that could be meant for "no limit" is guessed at."""
    assert "write a whole number from 0 to 1000000, or unlimited" in problem(body("disruption.rates.perHour", value))


@pytest.mark.parametrize("rule", ["labelSelector: ''", "labelSelector: {}", "namespaces: []", "namespaces: ''"])
def test_a_rule_of_move_by_names_somebody(rule: str) -> None:
    """An empty selector or list there would name everybody or nobody."""
    assert "disruption.moveBy[0]" in problem(f"disruption: {{moveBy: [{{method: Surge, {rule}}}]}}")


def test_an_empty_text_where_texts_stand_is_a_mistake() -> None:
    """A name that a template left empty is told, not guessed."""
    assert "found ''" in problem("ledger: {name: ''}")
    assert "found ''" in problem("stop: {file: ''}")
    assert policy("disruption: {ownerKinds: [{group: '', kind: Thing}]}").disruption.owner_kinds[0].group == ""
