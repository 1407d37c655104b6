"""How pods are moved, as policies write it."""

from __future__ import annotations

import pytest

from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.move_by import Otherwise
from rescheduler.policy.telling.summary import method_sentences
from tests.unit.policy.policies import HEAD, policy, problem, problems


def test_rules_are_read_in_their_order() -> None:
    """Each names its pods, the method, and what becomes of those that it is not possible for."""
    rules = policy(
        """\
        disruption:
          moveBy:
          - {namespaces: [shop], labelSelector: {matchLabels: {tier: web}}, method: Surge, otherwise: Evict}
          - {method: Migrate}
          surge: {readyWithin: 90s, settle: 0}
          migration: {within: 1h}
        """
    ).disruption
    assert [(rule.namespaces, rule.method, rule.otherwise) for rule in rules.move_by] == [
        (("shop",), MoveMethod.SURGE, Otherwise.EVICT),
        (None, MoveMethod.MIGRATE, Otherwise.REFUSE),
    ]
    assert (rules.surge.ready_within, rules.surge.settle, rules.migration.within) == (90.0, 0.0, 3600.0)


def test_nothing_is_the_default() -> None:
    """No rule, five minutes for a replacement, ten for a migration."""
    for body in ("", "disruption: {moveBy: , surge: , migration: {within: }}\n"):
        rules = policy(body).disruption
        assert rules.move_by == ()
        assert (rules.surge.ready_within, rules.surge.settle, rules.migration.within) == (300.0, 5.0, 600.0)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("moveBy: {method: Surge}", "moveBy: found a map; wanted a list"),
        ("moveBy: Surge", "moveBy: found 'Surge'; wanted a list"),
        ("moveBy: [Surge]", "moveBy[0]: found 'Surge'; wanted fields below it"),
        ("moveBy: [{method: Serge}]", "method: found 'Serge'; there are Evict, Surge, Migrate; did you mean Surge?"),
        ("moveBy: [{namespaces: [shop]}]", "moveBy[0].method: missing; write method"),
        ("moveBy: [{method: }]", "moveBy[0].method: missing; write method"),
        ("moveBy: [{method: Surge, namespaces: []}]", "namespaces: selects nothing; leave it out to mean all"),
        ("moveBy: [{method: Surge, labelSelector: {}}]", "labelSelector: selects nothing; leave it out to mean all"),
        ("moveBy: [{method: Surge, labelSelector: {matchLabels: {}}}]", "labelSelector: selects nothing"),
        ("moveBy: [{method: Surge, namespaces: ['sh*p']}]", "patterns are not read here"),
        ("moveBy: [{method: Surge, otherwise: Evit}]", "there are Refuse, Evict; did you mean Evict?"),
        ("moveBy: [{method: Surge, otherwis: Evict}]", "unknown field; did you mean otherwise?"),
        ("surge: {readyWithin: 5}", "readyWithin: 5 is not a duration; write it like 90s"),
        ("surge: {readyWithin: 0}", "readyWithin: 0 leaves no time at all"),
        ("surge: {readyWithin: -5m}", "readyWithin: '-5m' is not a duration"),
        ("surge: {settle: 5}", "settle: 5 is not a duration"),
        ("surge: {readyWithn: 5m}", "unknown field; did you mean readyWithin?"),
        ("migration: {within: 10}", "within: 10 is not a duration"),
        ("migration: {within: 0s}", "within: '0s' leaves no time at all"),
        ("migration: []", "migration: found a list; wanted fields below it"),
    ],
)
def test_what_cannot_be_meant_is_refused(body: str, told: str) -> None:
    """With its place, what was found, and what there is."""
    assert told in problem(f"disruption:\n  {body}\n")


def test_a_surge_needs_to_write() -> None:
    """Under Predict nothing but evictions is written, so both are named."""
    rules = "disruption: {moveBy: [{method: Evict}, {method: Surge}]}\n"
    (told,) = problems(f"{HEAD}guidance: Predict\n{rules}")
    assert "guidance: Predict" in told
    assert "disruption.moveBy[1].method: Surge" in told
    for guidance in ("Hold", "Guide", "Taint"):
        assert policy(f"guidance: {guidance}\n{rules}").disruption.move_by
    assert policy("guidance: Predict\ndisruption: {moveBy: [{method: Migrate}]}\n").disruption.move_by


def sentences(rules: str) -> list[str]:
    """What ``check`` says of the rules."""
    return list(method_sentences(policy(f"disruption: {{moveBy: {rules}}}\n").disruption))


def test_each_rule_is_told_in_a_sentence() -> None:
    """By its number, whom it is about, and what happens otherwise."""
    assert sentences("[]") == []
    selector = "{matchLabels: {tier: web}}"
    surge, migrate, by_apply = sentences(
        f"[{{namespaces: [shop], labelSelector: {selector}, method: Surge}}, {{method: Migrate}}]"
    )
    assert surge == (
        "rule 1 of moveBy: pods with tier=web in shop move by surge: a pod goes 5s after its replacement is Ready, "
        "which may take 5m; where that is not possible, it is left alone"
    )
    assert migrate == "rule 2 of moveBy: all pods that their owner moves himself are moved by him, which may take 10m"
    assert by_apply == "apply and run carry moves by surge and by migration out"
    assert sentences("[{method: Migrate}]")[-1] == "apply and run carry moves by migration out"
    assert len(sentences("[{method: Evict}]")) == 1


def test_a_rule_that_is_never_asked_is_told() -> None:
    """Since an earlier one names all its pods; rules of migrations are about some pods only."""
    hidden = "warning: rule 2 of moveBy is never asked, since rule 1 names all its pods"
    assert sentences("[{method: Evict}, {namespaces: [shop], method: Surge}]")[-1] == hidden
    assert hidden not in sentences("[{method: Migrate}, {method: Surge}]")
    assert hidden not in sentences("[{namespaces: [a], method: Evict}, {namespaces: [a, b], method: Surge}]")
