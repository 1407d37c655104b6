"""Tests of how a daemon notices that it is shown the past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.daemon.rounds import past_states
from rescheduler.daemon.rounds.past_states import PastStates, changed_pods
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from tests.builders import NOW, cluster, pod


def seen(**versions: Any) -> Cluster:
    """Pods at these versions."""
    return cluster(*(pod(f"{name}-0", resource_version=str(version)) for name, version in versions.items()))


def test_versions_that_rise_or_stay_are_believed() -> None:
    """The very same snapshot comes back; new pods and pods that go are nothing special."""
    past = PastStates()
    for found in (seen(a=5, b=6), seen(a=5, b=6), seen(a=7, c=1), seen(c=9)):
        assert past.refuse_older(found) is found


def test_a_lower_version_is_the_past() -> None:
    """It is named, with both versions; what was known stays, and the present is believed again."""
    past = PastStates()
    past.refuse_older(seen(a=5, b=6))
    with pytest.raises(ClusterError, match="pod default/b-0 at version 5, which was at 6"):
        past.refuse_older(seen(a=9, b=5))
    with pytest.raises(ClusterError):
        past.refuse_older(seen(a=4, b=6))
    past.refuse_older(seen(a=5, b=6))


def test_a_pod_that_was_gone_is_the_past() -> None:
    """A uid is never given twice; another pod of that name has another."""
    past = PastStates()
    past.refuse_older(seen(a=5, b=6))
    past.refuse_older(seen(a=5))
    past.refuse_older(cluster(pod("a-0", resource_version="5"), pod("b-0", uid="new", resource_version="7")))
    with pytest.raises(ClusterError, match=r"pod default/b-0 .*, which was gone"):
        past.refuse_older(seen(a=5, b=6))


def test_only_the_last_pods_that_went_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a process that lives for months does not fill its memory."""
    monkeypatch.setattr(past_states, "MOST_GONE", 1)
    past = PastStates()
    for found in (seen(a=1, b=1, c=1), seen(b=1, c=1), seen(c=1)):
        past.refuse_older(found)
    past.refuse_older(seen(a=1, c=1))
    with pytest.raises(ClusterError):
        past.refuse_older(seen(b=1, c=1))


@pytest.mark.parametrize("version", ["", "abc", "²", "1" * 30])
def test_versions_that_are_no_numbers_say_nothing(version: str) -> None:
    """They cannot be compared."""
    past = PastStates()
    past.refuse_older(seen(a=5))
    past.refuse_older(seen(a=version))
    past.refuse_older(seen(a=3))


def test_placeholders_come_and_go() -> None:
    """Who carries a plan out is shown the cluster without them."""
    past = PastStates()
    held = cluster(pod("hold-0", labels={MANAGED_BY: OURS}, resource_version="5"))
    for found in (held, cluster(), held):
        past.refuse_older(found)


def test_a_restored_backup_is_believed_after_a_while() -> None:
    """Where nothing else has been shown for fifteen minutes; one look at the present begins the wait anew."""
    past = PastStates()
    past.refuse_older(seen(a=5))
    for later, version in ((0, 3), (899, 3), (900, 5), (1000, 3), (1899, 3)):
        found = replace(seen(a=version), taken_at=NOW + later)
        if version == 5:
            past.refuse_older(found)
        else:
            with pytest.raises(ClusterError, match="after 15 minutes"):
                past.refuse_older(found)
    past.refuse_older(replace(seen(a=3), taken_at=NOW + 1900))
    past.refuse_older(replace(seen(a=4), taken_at=NOW + 1901))


def test_a_pod_that_only_moved_in_the_list_is_not_gone() -> None:
    """Whoever lists in another order says nothing of the past."""
    past = PastStates()
    found = seen(a=5, b=6, c=7)
    past.refuse_older(found)
    past.refuse_older(replace(found, pods=found.pods[::-1]))
    past.refuse_older(found)
    with pytest.raises(ClusterError, match="pod default/b-0 at version 5, which was at 6"):
        past.refuse_older(seen(a=5, b=5, c=7))


SNAPSHOTS = st.dictionaries(st.integers(0, 40), st.integers(1, 3), max_size=40)


def pods_of(versions: dict[int, int]) -> tuple[Pod, ...]:
    """Pods by number, at these versions."""
    return tuple(pod(f"web-{number:02}", resource_version=str(versions[number])) for number in sorted(versions))


def told(pods: Sequence[Pod]) -> dict[str, str]:
    """Versions by name."""
    return {item.name: item.resource_version for item in pods}


@pytest.mark.parametrize("block", [1, 2, 7, 1024])
@given(before=SNAPSHOTS, after=SNAPSHOTS)
def test_what_came_went_and_changed_is_found_and_nothing_else(
    block: int, before: dict[int, int], after: dict[int, int]
) -> None:
    """As a plain comparison by name finds it, however many are compared at once."""
    old, new = pods_of(before), pods_of(after)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(past_states, "_BLOCK", block)
        gone, come = changed_pods(old, new)
    is_other = {item.name for item in (*old, *new) if told(old).get(item.name) != told(new).get(item.name)}
    assert told(gone) == {name: version for name, version in told(old).items() if name in is_other}
    assert told(come) == {name: version for name, version in told(new).items() if name in is_other}


def test_pods_in_no_order_lose_no_change() -> None:
    """More may be named than changed, never less."""
    old, new = pods_of({1: 1, 2: 1, 3: 1}), pods_of({1: 1, 2: 2, 4: 1})
    gone, come = changed_pods(old[::-1], new)
    assert {"web-02", "web-03"} <= {item.name for item in gone}
    assert {"web-02", "web-04"} <= {item.name for item in come}
