"""Recordings that are no recordings: damaged, nested, exploding or endless texts are refused in time."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import zlib
from typing import Any

import pytest
import yaml

from rescheduler.adapters.files.recording.reading import read_recording
from tests.unit.adapters.api_objects import api_object, list_of, node_object, pod_object, read
from tests.unit.adapters.files.recording.refusing import GOOD, refused


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"items":[' * 100_000,
        json.dumps(GOOD).encode().replace(b'"Running"', b"[" * 100_000 + b"]" * 100_000),
        b"- " * 100_000,
        b"{? " * 100_000,
        b"a: " + b"[" * 100_000,
    ],
)
def test_deep_nesting_is_refused(data: bytes) -> None:
    """100,000 levels end in an error, not in a full stack."""
    refused(data)


def test_lists_in_lists_have_an_end() -> None:
    """Lists may hold lists, but not without end."""
    nested = list_of(node_object())
    assert len(read(list_of(nested)).nodes) == 1
    for _ in range(5):
        nested = list_of(nested)
    assert "lists within lists" in refused(nested)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("items:\n- kind: a\n- b: *x\n", "line 3, column 6: alias *x repeats nothing that is complete"),
        ("kind: Pod\nspec: &x [*x]\n", "line 2, column 11: alias *x repeats nothing that is complete"),
        ("kind: !!python/object/apply:os.system [ls]\n", "tag tag:yaml.org,2002:python/object/apply:os.system"),
        ("kind: ! Pod\n", "is not allowed"),
        ("kind: List\nkind: List\n", "line 2, column 1: key 'kind' stands twice"),
        ("kind: Pod\nspec:\n  a: 1\n  a: 2\n", "line 4, column 3: key 'a' stands twice"),
        ("kind: List\n\t- b\n", "line 2, column 1"),
        ("? [a]\n: b\n", "a key must be a plain text"),
        ("kind: List\nitems:\n- 5\n", "items[0] is no object"),
        ("kind: Pod\nspec: .nan\n", "line 2, column 7: .nan is no number"),
        ("kind: [\n", "line 2"),
    ],
)  # fmt: skip
def test_yaml_is_read_strictly(text: str, complaint: str) -> None:
    """No aliases, tags, doubled keys, tabs or keys that are no text; the place is told."""
    assert complaint in refused(text.encode())


def test_a_large_alias_bomb_is_refused_before_it_is_parsed() -> None:
    """Megabytes of good YAML in front of an alias do not delay the refusal."""
    filler = b"- kind: Event\n  a: [b, c, d]\n" * 200_000
    assert "anchors and aliases are not allowed" in refused(b"kind: List\nitems:\n" + filler + b"- *a\n")


def test_ampersands_in_texts_are_no_anchors(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks like an anchor within a text of several lines is only text, in large recordings too."""
    monkeypatch.setattr("rescheduler.adapters.files.recording.yaml_text.LARGEST_YAML_WITH_ALIASES_BYTES", 0)
    text = "kind: List\nitems:\n- kind: Node\n  metadata:\n    name: a\n    annotations:\n      note: |\n"
    cluster = read(f"{text}        case x in\n         *foo) true &bar;;\n        esac &\n".encode())
    assert cluster.nodes[0].name == "a"


def test_a_few_aliases_are_read() -> None:
    """Some YAML writers repeat equal parts by alias; that is the same recording."""
    labels = {"app": "web"}
    pod = pod_object()
    pod["metadata"]["labels"] = pod["spec"]["nodeSelector"] = labels
    text = yaml.safe_dump(list_of(node_object(), pod))
    assert "*id" in text
    assert read(text.encode()).pods == read(list_of(node_object(), pod)).pods


def test_an_alias_bomb_is_refused() -> None:
    """Aliases of aliases grow beyond all bounds in a few hundred bytes; they are not expanded."""
    lines = ["kind: List", "a0: &a0 [lol, lol, lol]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, 12)]
    assert "aliases expand to more than 16 MiB" in refused("\n".join(lines).encode())


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_damaged_archives_are_told(pack: Any) -> None:
    """Cut off or changed, packed data is refused as such."""
    packed = pack(json.dumps(GOOD).encode())
    assert "in the middle" in refused(packed[:-12])
    damaged = bytearray(packed)
    damaged[len(packed) // 2] ^= 0xFF
    refused(bytes(damaged))


def test_a_gzip_bomb_is_stopped() -> None:
    """Data that grows out of proportion is refused long before it is unpacked."""
    engine = zlib.compressobj(9, wbits=31)
    bomb = b"".join(engine.compress(b" " * 2**20) for _ in range(80)) + engine.flush()
    assert "packed bytes grew to" in refused(bomb)


def test_one_endless_text_is_stopped() -> None:
    """A single value may not fill the memory."""
    engine = zlib.compressobj(1, wbits=31)
    start = engine.compress(b'{"kind":"List","items":[{"kind":"Node","metadata":{"name":"')
    bomb = start + b"".join(engine.compress(b"a" * 2**20) for _ in range(150)) + engine.flush()
    assert "one value is larger than 64 MiB" in refused(bomb)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (json.dumps(GOOD).encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04...", "zip"),
        (b"\x28\xb5\x2f\xfd...", "zstd"),
        (b"BZh9...", "bzip2"),
        (json.dumps(GOOD).encode().replace(b'"web"', b'"\xff\xfe"'), "not UTF-8"),
        (b"kind: \xff\xfe\n", "standard input"),
        (b'{"kind":"Pod","metadata":{"name":"\\ud800"},"spec":{"containers":[{}]}}', "standard input"),
        (b"\x00" * 100, "standard input"),
        (os.urandom(0) + bytes(range(256)), "standard input"),
    ],
)
def test_other_forms_of_data_are_refused(data: bytes, complaint: str) -> None:
    """Other encodings, other packers and plain noise are one clear error."""
    assert complaint in refused(data)


def test_a_flood_of_useless_objects_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds that are not needed may be there, but not without end."""
    monkeypatch.setattr("rescheduler.adapters.files.recording.reading.MOST_UNUSED_OBJECTS", 10)
    useless = [api_object("Event", f"e{number}") for number in range(11)]
    assert len(read(list_of(node_object(), *useless[:10])).nodes) == 1
    assert "more than 10 objects of kinds that are not needed" in refused(list_of(node_object(), *useless))


def test_the_largest_recording_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """So may those that are needed."""
    monkeypatch.setattr("rescheduler.adapters.files.recording.reading.MOST_OBJECTS", 5)
    nodes = [node_object(f"n{number}") for number in range(6)]
    assert "more than 5 objects" in refused(list_of(*nodes))
    assert len(read_recording(["-"], io.BytesIO(json.dumps(list_of(*nodes[:5])).encode())).nodes) == 5
