"""JSON text of any length, in chunks of any size."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.files.recording.documents import Envelope, Item
from rescheduler.adapters.files.recording.json_text import JsonText, json_objects
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError

NAMES = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(
    NAMES.filter(lambda name: name not in ("kind", "apiVersion", "items")), VALUES, max_size=3
).map(lambda fields: {"kind": "Thing", **fields})


def objects(text: bytes, size: int = 1 << 20) -> list[Item | Envelope]:
    """All objects of a text given in chunks of this size."""
    return list(json_objects(text[start : start + size] for start in range(0, len(text), size)))


@given(st.lists(OBJECTS, max_size=4), st.sampled_from([None, 0, 2, 4]), st.integers(1, 40), st.booleans())
def test_items_come_out_as_they_went_in(items: list[Any], indent: int | None, size: int, kind_first: bool) -> None:
    """Whatever the items hold, however the text is laid out and cut in chunks."""
    envelope = (
        {"kind": "List", "metadata": {"a": "]}"}, "items": items} if kind_first else {"items": items, "kind": "List"}
    )
    found = objects(json.dumps(envelope, indent=indent).encode(), size)
    assert [msgspec.json.decode(item.raw) for item in found if isinstance(item, Item)] == items
    assert isinstance(found[-1], Envelope)
    assert found[-1].kind == "List"


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from(["", " ", "\n", "\r\n\t"]), st.integers(1, 20))
def test_documents_may_follow_each_other(documents: list[Any], between: str, size: int) -> None:
    """With or without white space, as several kubectl calls into one file give."""
    found = objects(between.join(json.dumps(document) for document in documents).encode(), size)
    assert [msgspec.json.decode(item.raw) for item in found] == documents


def test_kinds_come_from_item_or_list() -> None:
    """Each item's own kind, else that of its list, even when the list tells it last."""
    own = objects(b'{"kind":"List","items":[{"apiVersion":"v1","kind":"Pod"},{"kind":"Node","apiVersion":"v2"}]}')
    assert [(item.kind, item.api_version) for item in own if isinstance(item, Item)] == [("Pod", "v1"), ("Node", "v2")]
    for text in (b'{"kind":"PodList","items":[{"a":1}]}', b'{"items":[{"a":1}],"kind":"PodList"}'):
        assert objects(text)[0] == Item("Pod", "", b'{"a":1}', "items[0]")


def test_a_kind_within_the_object_is_not_its_kind() -> None:
    """Only the outermost kind counts."""
    (item,) = objects(b'{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ReplicaSet"}]},"kind":"Pod"}')
    assert item.kind == "Pod"


def test_an_array_of_objects_is_a_list() -> None:
    """As ``jq .items`` prints."""
    assert [item.kind for item in objects(b'[{"kind":"Pod"}, {"kind":"Node"}]')] == ["Pod", "Node"]


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b'{"kind":"List","items":[{"kind":"A"} {"kind":"B"}]}', 37),
        (b'{"kind":"List","items":[{"kind":"A"},]}', 37),
        (b'{"kind":"List","items":[,{"kind":"A"}]}', 24),
        (b'{"kind" "List"}', 8),
        (b'{"kind":"List" "a":1}', 15),
        (b'{kind:"List"}', 1),
        (b'{"kind":"List","items":[{"kind":tru}]}', 32),
        (b'{"a":1}{"b":}', 12),
        (b'{"kind":"List",}', 15),
        (b'{"a":tr\x80}', 5),
        (b"[1]", 1),
        (b'{"items":[{"a":"\n"}]}', 16),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_errors_name_the_byte(text: bytes, offset: int, size: int) -> None:
    """The offset counts from the start of the whole text, whatever the chunks."""
    with pytest.raises(BrokenTextError) as caught:
        objects(text, size)
    assert caught.value.offset in (offset, offset + 1)


def test_the_parser_tells_where_a_value_ends() -> None:
    """What is relied upon: the byte it complains about is the first after the value."""
    for value in (b"{}", b'{"a":[1,2]}', b"[]", b'"a\\"b"', b"12", b"true"):
        for after in (b",", b" ,", b"}", b"\n]"):
            text = JsonText(iter([value + after]))
            assert text.value().strip() == value
            assert text.peek() == after.strip()


def test_memory_holds_one_item_at_a_time() -> None:
    """A long list is not read ahead."""
    read = 0

    def chunks() -> Any:
        nonlocal read
        yield b'{"kind":"List","items":['
        for _ in range(1000):
            read += 1
            yield b'{"kind":"A","x":"' + b"x" * 1000 + b'"},'
        yield b'{"kind":"A"}]}'

    found = json_objects(chunks())
    next(found)
    assert read < 5
    assert sum(1 for _ in found) == 1001
