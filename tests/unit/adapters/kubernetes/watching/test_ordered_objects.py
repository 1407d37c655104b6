"""Objects in order, whatever was put and removed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.watching import ordered_objects
from rescheduler.adapters.kubernetes.watching.ordered_objects import OrderedObjects

Key = tuple[str, str]
keys = st.tuples(st.sampled_from(["", "a", "a-b", "b"]), st.sampled_from(["x", "x-1", "y", "z"]))
steps = st.lists(st.tuples(st.sampled_from(["put", "remove", "ask"]), keys, st.integers()), max_size=60)


@pytest.mark.parametrize("most_moved", [0, 2, 200])
@given(first=st.dictionaries(keys, st.integers()), found=steps)
def test_it_is_a_sorted_dictionary(most_moved: int, first: dict[Key, int], found: list[tuple[str, Key, int]]) -> None:
    """Asked at any time it gives what was put last and not removed, in order of keys; however it gets there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ordered_objects, "_MOST_MOVED", most_moved)
        order, wanted = OrderedObjects(first), dict(first)
        for what, key, value in found:
            if what == "put":
                order.put(key, value)
                wanted[key] = value
            elif what == "remove":
                order.remove(key)
                wanted.pop(key, None)
            else:
                assert order.all() == tuple(wanted[key] for key in sorted(wanted))
        assert order.all() == tuple(wanted[key] for key in sorted(wanted))
