"""What takes a pod out of its ReplicaSet is undone to the letter, and read from whatever an annotation says."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from msgspec import structs

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.surge_mark import labels_before, surge_mark
from rescheduler.model.plan.detachment import (
    Detachment,
    as_of_its_owner,
    controller_as_written,
    detachment_for,
    detachment_of,
    given_back,
    read_detachment,
    taken_out,
)
from rescheduler.policy.fields.policy import Policy
from tests.builders import pod, selector
from tests.unit.execution.surge.scenes import HASH, shop, workloads

OUT = Detachment(HASH, "h1", "p", "2027-01-15T08:00:00Z")
WEB = shop().pod_by_key["default/web-0"]
RULES = workloads(1)[0].selector


def test_a_pod_that_was_taken_out_has_no_controller_and_another_label() -> None:
    """Its reference stays as a plain one, and the annotation says how to undo that."""
    out = taken_out(WEB, OUT)
    assert out.labels == {"app": "web", HASH: "h1-leaving"}
    assert controller_as_written(out) is None
    assert [owner.uid for owner in out.owners] == ["rs-web"]
    assert json.loads(out.annotations[SURGE]) == {
        "label": HASH, "value": "h1", "plan": "p", "expires": "2027-01-15T08:00:00Z",
    }  # fmt: skip
    assert detachment_of(out) == OUT


def test_giving_back_leaves_nothing() -> None:
    """Label and annotations are as before; the owner is for the ReplicaSet to write."""
    back = given_back(taken_out(WEB, OUT))
    assert (back.labels, back.annotations) == (WEB.labels, WEB.annotations)
    assert given_back(WEB) is WEB


def test_in_a_snapshot_it_counts_for_its_workload() -> None:
    """With its label and its controller, and the annotation that tells; others are left as they are."""
    shown = as_of_its_owner(taken_out(WEB, OUT))
    assert (shown.labels, shown.owners) == (WEB.labels, WEB.owners)
    assert SURGE in shown.annotations
    assert as_of_its_owner(WEB) is WEB


def test_another_controller_that_has_taken_it_stays() -> None:
    """Whoever controls a pod is not talked over."""
    taken = structs.replace(taken_out(WEB, OUT), owners=WEB.owners)
    assert as_of_its_owner(taken) is taken


SPOILT = (
    "", "{", "[]", "null", '{"label": "a"}', '{"label": "a", "value": "b"}',
    '{"label":1,"value":2,"plan":3,"expires":4}', '{"label": ' + "[" * 9000, '{"x": ' + "[" * 9000 + "]" * 9000 + "}",
    "\ud800", '{"label":"\\ud800","value":"b","plan":"","expires":""}',
)  # fmt: skip
"""What whoever may edit a pod can write."""


@pytest.mark.parametrize("text", SPOILT, ids=range(len(SPOILT)))
def test_a_spoilt_annotation_is_undone_by_the_label_itself(text: str) -> None:
    """The label is given its value without our ending."""
    assert read_detachment(text, "h1-leaving") == Detachment(HASH, "h1", "", "")
    out = structs.replace(taken_out(WEB, OUT), annotations={SURGE: text})
    assert given_back(out).labels == WEB.labels


@pytest.mark.parametrize("text", SPOILT, ids=range(len(SPOILT)))
def test_a_spoilt_annotation_stops_no_plan(text: str) -> None:
    """All readers judge it alike: the pod stays, its labels count as they are, and others are planned for."""
    marked = structs.replace(WEB, annotations={SURGE: text})
    assert surge_mark(marked.annotations) is None
    assert labels_before(marked.labels, marked.annotations) == WEB.labels
    world = shop()
    seen = replace(world, pods=tuple(marked if one.key == WEB.key else one for one in world.pods))
    found = decide_eligibility(seen, Policy()).refusals[seen.pods.index(marked)]
    assert "is on its way by a surge already" in found.message


def test_a_label_that_somebody_else_has_changed_is_his() -> None:
    """Only the annotation goes."""
    out = taken_out(WEB, OUT)
    other = structs.replace(out, labels={**out.labels, HASH: "theirs"})
    assert given_back(other).labels == {"app": "web", HASH: "theirs"}


@pytest.mark.parametrize(
    ("item", "rules", "term"),
    [
        (pod("db-0", node="n", kind="StatefulSet"), RULES, "StatefulSet"),
        (pod("one", node="n", owner=None), RULES, "nobody"),
        (taken_out(WEB, OUT), RULES, SURGE),
        (structs.replace(WEB, annotations={SURGE: "{}"}), RULES, SURGE),
        (WEB, selector(app="web"), '"label"'),
        (WEB, None, '"label"'),
        (structs.replace(WEB, labels={"app": "web"}), RULES, '"label"'),
        (structs.replace(WEB, labels={"app": "web", HASH: "h" * 60}), RULES, '"label"'),
        (structs.replace(WEB, labels={"app": "web", HASH: "h1-leaving"}), RULES, '"label"'),
    ],
)
def test_who_cannot_be_taken_out_is_told_why(item: object, rules: object, term: str) -> None:
    """In words that hold what it is about."""
    found = detachment_for(item, rules, "p", "")  # type: ignore[arg-type]
    assert isinstance(found, str)
    assert term in found


def test_a_pod_of_a_deployment_can_be_taken_out() -> None:
    """By the label that its ReplicaSet alone selects by."""
    assert detachment_for(WEB, RULES, "p", "2027-01-15T08:00:00Z") == OUT


def test_the_lease_stands_on_the_pod_where_a_leader_took_it_out() -> None:
    """And nothing of it where nobody leads; a note that somebody has spoilt names none."""
    for lease in ("", "system/rescheduler"):
        text = structs.replace(OUT, lease=lease).written()
        assert ("lease" in text) is bool(lease)
        assert read_detachment(text, "h1-leaving").lease == lease
    assert read_detachment(text.replace('"system/rescheduler"', "[]"), "h1-leaving").lease == ""
