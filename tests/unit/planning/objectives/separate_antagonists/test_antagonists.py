"""Sets of the policy, the label, and their expiry become classes of pods that keep apart."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from rescheduler.checker.recounts.antagonists import pairs_left
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.objects.annotations import ANTAGONISTS_UNTIL as UNTIL
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.planning.lexicographic.document import summary_of
from rescheduler.planning.objectives.separate_antagonists.antagonists import Antagonists, find_antagonists
from rescheduler.policy.fields.objectives import ANTAGONISTS_LABEL, SeparateAntagonistsArgs
from tests.builders import NOW, cluster, node, pod
from tests.unit.planning.objectives.separate_antagonists.test_against_brute_force import arguments

BEFORE, AFTER = "2026-12-31T23:59:59Z", "2027-12-31T00:00:00+01:00"
"""Times before and after NOW."""


def app(*names: str) -> list[dict[str, dict[str, str]]]:
    """Selectors of pods by their app."""
    return [{"matchLabels": {"app": name}} for name in names]


def conflicts(found: Cluster, args: SeparateAntagonistsArgs) -> set[str]:
    """Names of the pods of each pair that keeps apart; the recount must agree when all share one node."""
    antagonists = find_antagonists(columns_of(found), args, NOW)
    pairs = set()
    for one, other in combinations(range(len(found.pods)), 2):
        first, second = (int(antagonists.conflicts.class_of[pod]) for pod in (one, other))
        if NOWHERE not in (first, second) and antagonists.conflicts.is_rival(first)[second]:
            pairs.add(f"{found.pods[one].name}|{found.pods[other].name}")
    assert len(pairs) == pairs_left(found, Plan(summary_of(found)), args, NOW)
    return pairs


def on_one_node(*pods_of: dict[str, Any]) -> Cluster:
    """Pods a-0, a-1, b-0, ... on one node, each with labels of its own app and what is given."""
    pods = []
    for number, fields in enumerate(pods_of):
        name = str(fields.pop("name", f"p{number}"))
        labels = {"app": name.split("-")[0], **fields.pop("labels", {})}
        pods.append(pod(name, node="n1", labels=labels, **fields))
    return cluster(node("n1", cpu="64"), *pods)


def test_one_selector_keeps_its_pods_apart_and_several_keep_apart_from_each_other() -> None:
    """Pods that only one selector of several picks may share a node."""
    found = on_one_node({"name": "a-0"}, {"name": "a-1"}, {"name": "b-0"}, {"name": "c-0"})
    assert conflicts(found, arguments(sets=[{"name": "s", "members": app("a")}])) == {"a-0|a-1"}
    assert conflicts(found, arguments(sets=[{"name": "s", "members": app("a", "b")}])) == {"a-0|b-0", "a-1|b-0"}
    three = arguments(sets=[{"name": "s", "members": app("b", "c", "d")}])
    assert conflicts(found, three) == {"b-0|c-0"}


def test_a_pod_that_two_selectors_pick_keeps_apart_from_its_like() -> None:
    """Each is one member against the other; an empty selector picks everything."""
    found = on_one_node({"name": "a-0"}, {"name": "a-1"}, {"name": "b-0"})
    assert conflicts(found, arguments(sets=[{"name": "s", "members": [*app("a"), {}]}])) == {
        "a-0|a-1",
        "a-0|b-0",
        "a-1|b-0",
    }


def test_a_pair_of_two_sets_is_one_pair() -> None:
    """Nothing is counted twice."""
    found = on_one_node({"name": "a-0"}, {"name": "b-0"})
    sets = [{"name": name, "members": app("a", "b")} for name in ("one", "two")]
    assert conflicts(found, arguments(sets=sets)) == {"a-0|b-0"}


def test_namespaces_narrow_a_set_but_not_the_label() -> None:
    """The label keeps pods of all namespaces apart."""
    mark = {ANTAGONISTS_LABEL: "x"}
    found = on_one_node(
        {"name": "a-0", "labels": mark}, {"name": "a-1"}, {"name": "b-0", "namespace": "other", "labels": mark}
    )
    assert conflicts(found, arguments(sets=[{"name": "s", "namespaces": ["other"], "members": app("a")}])) == {
        "a-0|b-0"
    }
    assert conflicts(
        found, arguments(sets=[{"name": "s", "namespaces": ["default"], "members": app("a")}], label="y")
    ) == {"a-0|a-1"}


def test_different_values_of_the_label_say_nothing_of_each_other() -> None:
    """Only equal values do; an empty value is one too."""
    values = ("x", "y", "x", "", "")
    found = on_one_node(*({"name": f"p-{n}", "labels": {ANTAGONISTS_LABEL: value}} for n, value in enumerate(values)))
    assert conflicts(found, arguments()) == {"p-0|p-2", "p-3|p-4"}


@pytest.mark.parametrize(("expires", "holds"), [(BEFORE, False), (AFTER, True), (None, True)])
def test_a_set_ends_when_it_expires(expires: str | None, holds: bool) -> None:
    """From that time on it says nothing."""
    found = on_one_node({"name": "a-0"}, {"name": "a-1"})
    args = arguments(sets=[{"name": "s", "members": app("a"), **({"expires": expires} if expires else {})}])
    assert conflicts(found, args) == ({"a-0|a-1"} if holds else set())


def test_a_set_expires_at_the_very_second() -> None:
    """The moment itself belongs to what comes after."""
    found = on_one_node({"name": "a-0"}, {"name": "a-1"})
    assert not conflicts(found, arguments(sets=[{"name": "s", "members": app("a"), "expires": "2027-01-15T08:00:00Z"}]))
    assert conflicts(found, arguments(sets=[{"name": "s", "members": app("a"), "expires": "2027-01-15T08:00:01Z"}]))


def test_the_annotation_ends_a_mark_but_no_membership_in_a_set() -> None:
    """What the policy says stays."""
    marked = {"labels": {ANTAGONISTS_LABEL: "x"}}
    found = on_one_node(
        {"name": "a-0", **marked, "annotations": {UNTIL: BEFORE}},
        {"name": "a-1", **marked, "annotations": {UNTIL: AFTER}},
        {"name": "b-0", **marked},
    )
    assert conflicts(found, arguments()) == {"a-1|b-0"}
    assert conflicts(found, arguments(sets=[{"name": "s", "members": app("a")}])) == {"a-1|b-0", "a-0|a-1"}


@pytest.mark.parametrize(
    "text", ["tomorrow", "2027-01-01", "2020-01-01T00:00:00", "", "9" * 500, "2020-01-01T25:00:00Z"]
)
def test_an_end_that_cannot_be_read_ends_nothing_and_is_told(text: str) -> None:
    """Neither a wrong text nor a time without a zone is taken for an end."""
    marked = {"labels": {ANTAGONISTS_LABEL: "x"}}
    found = on_one_node({"name": "a-0", **marked, "annotations": {UNTIL: text}}, {"name": "a-1", **marked})
    assert conflicts(found, arguments()) == {"a-0|a-1"}
    (warning,) = find_antagonists(columns_of(found), arguments(), NOW).warnings
    assert warning.startswith(f"pod default/a-0: annotation {UNTIL}: found ")
    assert len(warning) < 300


def test_many_unreadable_ends_make_few_warnings() -> None:
    """The first are named, the others counted."""
    broken = {"labels": {ANTAGONISTS_LABEL: "x"}, "annotations": {UNTIL: "?"}}
    found = on_one_node(*({"name": f"a-{number}", **broken} for number in range(9)))
    warnings = find_antagonists(columns_of(found), arguments(), NOW).warnings
    assert len(warnings) == 6
    assert warnings[-1].startswith("4 more pods")


def test_an_end_without_a_mark_is_no_matter() -> None:
    """Only marked pods are looked at."""
    found = on_one_node({"name": "a-0", "annotations": {UNTIL: "?"}})
    assert find_antagonists(columns_of(found), arguments(), NOW).warnings == ()


def test_finished_and_terminating_pods_keep_apart_from_nobody() -> None:
    """They are gone, or go by themselves."""
    found = on_one_node({"name": "a-0"}, {"name": "a-1", "deletion_at": NOW}, {"name": "a-2", "phase": "Succeeded"})
    assert conflicts(found, arguments(sets=[{"name": "s", "members": app("a")}])) == set()


def test_no_pods_and_no_labels_are_fine() -> None:
    """Nobody keeps apart."""
    assert conflicts(cluster(), arguments()) == set()
    assert conflicts(cluster(node("n1"), pod("a", node="n1", labels={})), arguments()) == set()


def test_the_cause_names_set_or_label() -> None:
    """As far as the pair is concerned."""
    mark = {ANTAGONISTS_LABEL: "x"}
    found = on_one_node({"name": "a-0", "labels": mark}, {"name": "b-0", "labels": mark}, {"name": "c-0"})
    sets = [{"name": "first", "members": app("c", "d")}, {"name": "second", "members": app("a", "c")}]
    antagonists: Antagonists = find_antagonists(columns_of(found), arguments(sets=sets), NOW)
    one, two, three = antagonists.conflicts.class_of.tolist()
    assert antagonists.cause(one, two) == f"label {ANTAGONISTS_LABEL}=x"
    assert antagonists.cause(one, three) == antagonists.cause(three, one) == "set second"
