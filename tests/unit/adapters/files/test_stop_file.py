"""Tests of the kill switch on this machine."""

from __future__ import annotations

from pathlib import Path

from rescheduler.adapters.files.stop_file import stop_file


def test_nothing_is_stopped_without_a_file(tmp_path: Path) -> None:
    """None named, none there, no such folder."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert stop_file(None) is None
    assert stop_file(str(tmp_path / "stop")) is None
    assert stop_file(str(tmp_path / "file" / "stop")) is None


def test_its_first_line_is_the_reason(tmp_path: Path) -> None:
    """With the file's name; what no terminal should see is escaped, and a long text cut."""
    file = tmp_path / "stop"
    file.write_text("maintenance until noon\nmore", encoding="utf-8")
    assert stop_file(str(file)) == f"maintenance until noon (file {file})"
    file.write_bytes(b"\x1b[31mred\xff" + b"x" * 10_000)
    text = stop_file(str(file)) or ""
    assert "\x1b" not in text
    assert len(text) < 500 + len(str(file))


def test_an_empty_file_stops_too(tmp_path: Path) -> None:
    """Its existence is enough; a folder of that name, or a file that cannot be read, stops as well."""
    file = tmp_path / "stop"
    file.touch()
    assert stop_file(str(file)) == f"no reason given (file {file})"
    folder = tmp_path / "folder"
    folder.mkdir()
    assert "directory" in (stop_file(str(folder)) or "").lower()
    assert stop_file("a\0b") is not None
