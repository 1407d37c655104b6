"""The recount of antagonists' pairs, written out by hand."""

from __future__ import annotations

import json
from typing import Any

from rescheduler.checker.recounts.antagonists import UNTIL, pairs_left
from rescheduler.policy.fields.objectives import ANTAGONISTS_LABEL, SeparateAntagonistsArgs
from tests.builders import NOW, cluster, node, pod
from tests.unit.checker.cases import move, place, plan


def arguments(*sets: dict[str, Any], **fields: Any) -> SeparateAntagonistsArgs:
    """Arguments as a policy file gives them."""
    return SeparateAntagonistsArgs.model_validate_json(json.dumps({"sets": sets, **fields}))


def app(*names: str) -> list[dict[str, dict[str, str]]]:
    """Selectors of pods by their app."""
    return [{"matchLabels": {"app": name}} for name in names]


FOUND = cluster(
    node("n1"),
    node("n2"),
    *(pod(f"a-{number}", node="n1") for number in range(3)),
    *(pod(f"b-{number}", node="n1") for number in range(2)),
    pod("c-0", node="n2"),
    pod("b-9"),
)


def test_pairs_of_different_members_count_once_each() -> None:
    """Three against two are six pairs; two sets that name the same pods add nothing."""
    twice = [{"name": name, "members": app("a", "b")} for name in ("x", "y")]
    assert pairs_left(FOUND, plan(), arguments(*twice), NOW) == 6


def test_pairs_within_one_member_count_if_it_is_the_only_one() -> None:
    """Three pods are three pairs."""
    assert pairs_left(FOUND, plan(), arguments({"name": "x", "members": app("a")}), NOW) == 3


def test_moves_and_placements_count_where_they_end() -> None:
    """A pod that left meets nobody any more, one that was placed does."""
    args = arguments({"name": "x", "members": app("b", "c")})
    assert pairs_left(FOUND, plan(), args, NOW) == 0
    assert pairs_left(FOUND, plan(move("b-0", "n1", "n2"), place("b-9", "n2", 1)), args, NOW) == 2
    assert pairs_left(FOUND, plan(move("c-0", "n2", "n1")), args, NOW) == 2


def test_what_has_expired_says_nothing() -> None:
    """A set at its very second, a mark by its annotation; what cannot be read goes on."""
    ended = arguments({"name": "x", "members": app("a"), "expires": "2027-01-15T08:00:00Z"})
    assert pairs_left(FOUND, plan(), ended, NOW) == 0
    assert pairs_left(FOUND, plan(), ended, NOW - 1) == 3
    marked = [
        pod(
            f"m-{number}", node="n1", labels={ANTAGONISTS_LABEL: "x"}, annotations={} if text is None else {UNTIL: text}
        )
        for number, text in enumerate((None, "soon", "2020-01-01T00:00:00Z", "2040-01-01T00:00:00"))
    ]
    assert pairs_left(cluster(node("n1"), *marked), plan(), arguments(), NOW) == 3


def test_terminating_and_finished_pods_and_unknown_nodes_are_left_out() -> None:
    """None of them meets anybody."""
    mark = {ANTAGONISTS_LABEL: "x"}
    found = cluster(
        node("n1"),
        pod("a", node="n1", labels=mark),
        pod("b", node="n1", labels=mark, deletion_at=NOW),
        pod("c", node="n1", labels=mark, phase="Failed"),
        pod("d", node="gone", labels=mark),
        pod("e", node="gone", labels=mark),
    )
    assert pairs_left(found, plan(), arguments(), NOW) == 0
