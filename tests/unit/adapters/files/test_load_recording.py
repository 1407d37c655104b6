"""Recordings of load as files."""

from __future__ import annotations

import gzip
import json
import lzma
from math import isnan
from pathlib import Path

import pytest

from rescheduler.adapters.files import load_recording
from rescheduler.adapters.files.load_recording import read_load_recording
from rescheduler.extension_points import SnapshotError

TEXT = json.dumps(
    {
        "window": {"start": 0, "end": 900},
        "data": {"NodeMetricsMap": {"a": {"metrics": [{"type": "CPU", "operator": "AVG", "value": 12.5}]}}},
    }
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_plain_and_packed(tmp_path: Path, pack: object) -> None:
    """JSON as it is, and packed with gzip or xz."""
    path = tmp_path / "u"
    path.write_bytes(pack(TEXT.encode()))  # type: ignore[operator]
    assert read_load_recording(str(path)).nodes == {"a": (("CPU", "AVG", 12.5),)}


def test_numbers_that_json_does_not_have(tmp_path: Path) -> None:
    """NaN is read as what it is: a value that cannot be used."""
    (tmp_path / "u").write_text(TEXT.replace("12.5", "NaN"))
    assert isnan(read_load_recording(str(tmp_path / "u")).nodes["a"][0].value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b" \n", "is empty"),
        (b'{"window"', "wanted the JSON that GET /watcher returns"),
        (b"\xff\xfe{}", "UTF-16"),
        (b'{"window": "\xff"}', "no UTF-8 text"),
        (b"[" * 200_000, "nested too deeply"),
        (b"window: {start: 0}", "wanted the JSON"),
        (b"\x1f\x8b\x08\x00", "gzip data"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, content: bytes, said: str) -> None:
    """File and fault, whatever the bytes are."""
    (tmp_path / "load.json").write_bytes(content)
    with pytest.raises(SnapshotError, match=r"load\.json") as caught:
        read_load_recording(str(tmp_path / "load.json"))
    assert said in str(caught.value)


def test_a_missing_file_a_folder_and_a_flood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is refused with its name."""
    for path, said in ((tmp_path / "none", "cannot be read"), (tmp_path, "is a directory")):
        with pytest.raises(SnapshotError, match=said):
            read_load_recording(str(path))
    monkeypatch.setattr(load_recording, "LARGEST_BYTES", 10)
    (tmp_path / "u").write_text(TEXT)
    with pytest.raises(SnapshotError, match="is larger than"):
        read_load_recording(str(tmp_path / "u"))
    monkeypatch.setattr(load_recording, "LARGEST_BYTES", 2**20)
    monkeypatch.setattr(load_recording, "MOST_VALUES", 1000)
    (tmp_path / "u").write_text('{"data": [' + "{}," * 600 + "0]}")
    with pytest.raises(
        SnapshotError, match=r"u: holds more than 1,000 values; wanted the JSON that GET /watcher returns"
    ):
        read_load_recording(str(tmp_path / "u"))
