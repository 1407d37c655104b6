"""Budgets of a policy: the forms that are read, and what each mistake is told."""

from __future__ import annotations

import pytest

from rescheduler.daemon.plugins import policy_sentences
from rescheduler.policy.fields.budgets import Budget, names_of
from tests.unit.policy.policies import policy, problem


def read(*budgets: str) -> tuple[Budget, ...]:
    """The budgets of a policy, each written as a map."""
    return policy(f"disruption: {{budgets: [{', '.join(budgets)}]}}").disruption.budgets


def refused(*budgets: str) -> str:
    """The one thing that is wrong with these budgets, after the place of the list."""
    return problem(f"disruption: {{budgets: [{', '.join(budgets)}]}}").partition("disruption.budgets")[2]


def told(*budgets: str) -> list[str]:
    """What a summary says of them."""
    sentences = policy_sentences(policy(f"disruption: {{budgets: [{', '.join(budgets)}]}}"))
    return [sentence for sentence in sentences if "budget" in sentence]


NIGHT = "schedule: '0 22 * * *', duration: 8h, timeZone: Europe/Berlin"
ALLOW = f"{{type: Allow, {NIGHT}}}"
RATE = "rate: {maxEvictions: 3, window: 1h}"


def test_without_budgets_there_are_none() -> None:
    """The default binds nothing beyond workloads and limits."""
    assert policy().disruption.budgets == ()


def test_the_short_form_is_one_allow_window() -> None:
    """schedule, duration and timeZone beside each other mean the same as under windows."""
    short, long = read(f"{{{NIGHT}}}", f"{{name: long, windows: [{ALLOW}]}}")
    assert short.all_windows == long.all_windows
    assert short.all_windows[0].duration == 8 * 3600


def test_budgets_without_a_name_are_called_by_their_place() -> None:
    """From 1, as people count."""
    assert names_of(read("{maxMoving: 1}", "{name: b, maxMoving: 1}", "{maxMoving: 1}")) == ("1", "b", "3")


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        ("{}", "[0]: limits nothing; write maxUnavailable, maxMoving, rate or windows"),
        ("{per: Node}", "[0]: limits nothing; write maxUnavailable, maxMoving, rate or windows"),
        ("{namespaces: [], maxMoving: 1}", "[0].namespaces: selects nothing; leave it out to mean all namespaces"),
        ("{labelSelector: {}, maxMoving: 1}", "[0].labelSelector: selects nothing; leave it out to mean all pods"),
        ("{labelSelector: {matchLabels: {}}, maxMoving: 1}",
         "[0].labelSelector: selects nothing; leave it out to mean all pods"),
        ("{labelSelector: {matchExpressions: [{key: a, operator: In}]}, maxMoving: 1}",
         "[0].labelSelector.matchExpressions[0]: In needs values; write values: [...] with at least one"),
        ("{maxUnavailable: 100%}", ("[0].maxUnavailable: 100% would allow a whole workload to be down at once; write a "
         "share below 100%, or a number")),
        ("{maxMoving: 150%}", ("[0].maxMoving: found '150%'; write a whole number of pods such as 1, or a share such "
         "as 10%")),
        ("{maxMoving: -1}", ("[0].maxMoving: -1 is out of range; write a whole number of pods such as 1, or a share "
         "such as 10%")),
        ("{maxMoving: 0.1}",
         "[0].maxMoving: found 0.1; write a whole number of pods such as 1, or a share such as 10%"),
        ("{rate: {maxEvictions: 3, window: 59s}}", "[0].rate.window: found 59s; a rate is counted over 1m to 168h"),
        ("{rate: {maxEvictions: 3, window: 169h}}", "[0].rate.window: found 169h; a rate is counted over 1m to 168h"),
        ("{rate: {maxEvictions: -1, window: 1h}}", "[0].rate.maxEvictions: found -1; wanted 0 or more"),
        ("{rate: {maxEvictions: 3}}", "[0].rate.window: missing; write window"),
        ("{per: Pod, maxMoving: 1}", "[0].per: found 'Pod'; there are Cluster, Node, Zone, Namespace, Workload"),
        ("{maxMovin: 1}", "[0].maxMovin: unknown field; did you mean maxMoving?"),
        ("{windows: []}", "[0].windows: empty; write at least one, or leave the field out"),
        ("{schedule: '0 22 * * *', duration: 8h}",
         "[0]: has schedule and duration, but no timeZone; a window needs all three"),
        ("{timeZone: UTC}", "[0]: has timeZone, but no schedule and no duration; a window needs all three"),
        (f"{{{NIGHT}, windows: [{ALLOW}]}}",
         "[0]: has windows, and one more in its short form; write that one under windows too"),
        ("{windows: [{type: Allow, schedule: '0 22 * * *', duration: 8h}]}",
         "[0].windows[0].timeZone: missing; write timeZone"),
        ("{schedule: '0 22 * * *', duration: 8h, timeZone: CEST}", ("[0].timeZone: found 'CEST'; wanted a name of the "
         "IANA time zone database, such as UTC or Europe/Berlin")),
        ("{schedule: '0 22 * * *', duration: 8h, timeZone: Europe/berlin}", ("[0].timeZone: found 'Europe/berlin'; "
         "wanted a name of the IANA time zone database, such as UTC or Europe/Berlin; did you mean Europe/Berlin?")),
        ("{schedule: '0 0 30 2 *', duration: 8h, timeZone: UTC}",
         "[0].schedule: '0 0 30 2 *' never opens: no such day is in those months"),
        ("{schedule: '0 22 * * *', duration: 24h, timeZone: UTC}", ("[0]: a window of 24h that opens at '0 22 * * *' "
         "never closes: the next one opens before it ends; write a shorter duration")),
        ("{schedule: '0 22 * * *', duration: 30s, timeZone: UTC}",
         "[0]: a window of 30s is too short; write 1m or more"),
        ("{schedule: '22:00', duration: 1h, timeZone: UTC}", ("[0].schedule: '22:00' is not a schedule; write five "
         'fields, minute hour day-of-month month day-of-week, such as "0 22 * * 1-5"')),
        ("{name: ' a', maxMoving: 1}", "[0].name: found ' a'; wanted a plain text"),
        (f"{{slo: GlobalRate, maxUnavailable: 1, per: Node, {NIGHT}}}",
         "[0]: GlobalRate is a rate across all pods; this has no rate, maxUnavailable, per: Node"),
        (f"{{slo: GlobalRate, namespaces: [a], {RATE}}}",
         "[0]: GlobalRate is a rate across all pods; this has namespaces"),
        (f"{{slo: SelectorRate, {RATE}}}",
         "[0]: SelectorRate is a rate across the pods that a labelSelector selects; this has no labelSelector"),
        ("{slo: SelectorMaxDown, labelSelector: {matchLabels: {a: b}}, maxMoving: 1}", ("[0]: SelectorMaxDown is the "
         "most pods down at once among those that a labelSelector selects (maxUnavailable); this has no "
         "maxUnavailable, maxMoving")),
    ],
)  # fmt: skip
def test_each_mistake_is_told_with_its_place(budget: str, text: str) -> None:
    """What was found, what was wanted, and what to write."""
    assert refused(budget) == text


def test_two_budgets_of_one_name_are_refused() -> None:
    """Messages could not say which one binds; a place in the list is a name too."""
    assert refused("{maxMoving: 1}", "{name: '1', maxMoving: 2}") == (
        ": budgets 1 and 2 of the list are both named 1; rename one"
    )


@pytest.mark.parametrize(
    "budget",
    [
        f"{{slo: GlobalRate, {RATE}, {NIGHT}}}",
        f"{{slo: SelectorRate, labelSelector: {{matchLabels: {{app: web}}}}, {RATE}}}",
        "{slo: SelectorMaxDown, labelSelector: {matchLabels: {app: web}}, namespaces: [shop], maxUnavailable: 10%}",
    ],
)
def test_the_three_forms_of_the_design_are_taken_by_name(budget: str) -> None:
    """A global rate, a rate of a selected set, the most pods down of a selected set; windows go with each."""
    assert read(budget)[0].slo is not None


def test_a_summary_says_what_a_budget_does() -> None:
    """Whom, counted how, how many, how fast and when."""
    found = told(
        "{name: web, labelSelector: {matchLabels: {app: web}}, namespaces: [shop], per: Node, maxUnavailable: 10%, "
        f"maxMoving: 2, {RATE}, {NIGHT}}}"
    )
    assert found == [
        (
            "budget web: of pods with app=web in shop, on each node at most 10% unready at a time (rounded down, so "
            "none of a few pods); at most 2 on the move at a time; at most 3 evictions in any 1h; only for 8h from 0 "
            "22 * * * (Europe/Berlin)"
        )
    ]


@pytest.mark.parametrize(
    ("budgets", "warning"),
    [
        (("{maxMoving: 0}",), "warning: no eviction is possible because maxMoving of budget 1 is 0"),
        (("{namespaces: [a], maxUnavailable: 0%}",),
         "warning: none of all pods in a can be moved because maxUnavailable of budget 1 is 0%"),
        (("{rate: {maxEvictions: 0, window: 1h}}",),
         "warning: no eviction is possible because rate.maxEvictions of budget 1 is 0"),
        (("{maxMoving: 3}", "{maxMoving: 1}"),
         "warning: budgets 1 and 2 cover the same pods with different maxMoving; the smaller applies: 1"),
        ((f"{{{RATE}}}", "{rate: {maxEvictions: 5, window: 1h}}"),
         "warning: budgets 1 and 2 cover the same pods with different rates; the smaller applies: 3"),
    ],
)  # fmt: skip
def test_a_summary_warns_of_what_is_odd(budgets: tuple[str, ...], warning: str) -> None:
    """Limits that let nothing go, and two that say different things of the same pods."""
    assert warning in told(*budgets)


def test_budgets_of_other_pods_are_no_contradiction() -> None:
    """Different sets, or different windows of a rate, may have different numbers."""
    found = told("{maxMoving: 3}", "{per: Node, maxMoving: 1}", f"{{{RATE}}}", "{rate: {maxEvictions: 9, window: 24h}}")
    assert not [sentence for sentence in found if sentence.startswith("warning")]
