"""Tests of pods that are alike in all that rules ask about."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.pod_kinds import PodKinds
from tests.builders import NOW, pod


def test_equal_pods_are_of_one_kind_though_their_maps_are_other_objects() -> None:
    """As replicas are that were read one by one."""
    one = pod("web-0", node="n1")
    other = type(one)(**{**_fields(one), "name": "web-1", "labels": dict(one.labels)})
    kinds = PodKinds([one, other])
    assert (kinds.kind_of, kinds.sizes) == ([0, 0], [2])


def _fields(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__struct_fields__}


@pytest.mark.parametrize(
    "fields",
    [
        {"labels": {"app": "web", "tier": "db"}}, {"annotations": {"rescheduler.dev/do-not-evict": "true"}},
        {"namespace": "other"}, {"phase": "Failed"}, {"is_ready": False}, {"deletion_at": NOW}, {"trouble": "OutOfcpu"},
        {"owners": ()},
    ],
)  # fmt: skip
def test_what_rules_ask_about_tells_kinds_apart(fields: dict[str, Any]) -> None:
    """Each of these alone."""
    one = pod("web-0", node="n1")
    other = type(one)(**{**_fields(one), **fields})
    kinds = PodKinds([one, other, one])
    assert (kinds.kind_of, kinds.sizes, len(kinds.examples)) == ([0, 1, 0], [2, 1], 2)


def test_pods_with_very_many_labels_are_kinds_of_their_own() -> None:
    """Unless they share them: comparing them would cost more than asking the rules once more."""
    many = {f"key-{number}": "" for number in range(300)}
    one = type(first := pod("web-0", node="n1"))(**{**_fields(first), "labels": many})
    equal = type(one)(**{**_fields(one), "labels": dict(many)})
    assert PodKinds([one, equal, one]).kind_of == [0, 1, 0]
