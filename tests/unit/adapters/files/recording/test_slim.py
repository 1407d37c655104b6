"""Whatever is decoded can be cut down for a recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest
from msgspec import Raw

from rescheduler.adapters.files.recording.slim import cut_of
from rescheduler.adapters.kubernetes.kinds import KINDS
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct


def structs_in(hint: Any) -> Iterator[type[ApiStruct]]:
    """The structs that a type is made of."""
    if isinstance(hint, type) and issubclass(hint, ApiStruct):
        yield hint
    for part in get_args(hint):
        yield from structs_in(part)


def raw_fields() -> list[tuple[type[ApiStruct], str]]:
    """All fields of recorded objects that are decoded only where somebody asks for them."""
    found: set[tuple[type[ApiStruct], str]] = set()
    seen: set[type[ApiStruct]] = set()
    waiting = [part for kind in KINDS for part in structs_in(kind.decoded)]
    while waiting:
        owner = waiting.pop()
        if owner not in seen:
            seen.add(owner)
            hints = get_type_hints(owner, include_extras=True)
            found |= {(owner, name) for name in owner.__struct_fields__ if hints[name] is Raw}
            waiting += [part for name in owner.__struct_fields__ for part in structs_in(hints[name])]
    return sorted(found, key=lambda item: (item[0].__name__, item[1]))


@pytest.mark.parametrize(("owner", "name"), raw_fields())
def test_every_raw_field_has_its_cut(owner: type[ApiStruct], name: str) -> None:
    """One that was forgotten would end a recording of any cluster that has it."""
    assert callable(cut_of(owner, name))


def test_a_field_that_nobody_has_thought_of_is_named() -> None:
    """As in a fault report."""
    with pytest.raises(KeyError, match=r"ApiStruct\.x"):
        cut_of(ApiStruct, "x")


def test_there_are_such_fields() -> None:
    """Workloads have metadata of their own kind."""
    names = {(owner.__name__, name) for owner, name in raw_fields()}
    assert {("WorkloadMeta", "labels"), ("WorkloadMeta", "managed_fields"), ("PodSpecObject", "volumes")} <= names
