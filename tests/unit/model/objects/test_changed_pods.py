"""Two snapshots compared, whatever they share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects import changed_pods as subject
from rescheduler.model.objects.changed_pods import changed_pods
from rescheduler.model.objects.pod import Pod
from tests.builders import pod

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
        patch.setattr(subject, "_BLOCK", block)
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
