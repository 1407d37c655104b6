"""A file of results: what is gone on with, what is asked again, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.batch.backtest.results_file import OtherQuestionError, ResultsFile
from rescheduler.batch.engine.tasks import Done
from rescheduler.extension_points import ReschedulerError

QUESTION = {"version": "1", "cases": ["a", "b"]}


def begun(path: Path) -> bytes:
    """A file with three results."""
    file = ResultsFile(str(path), QUESTION)
    for key in "abc":
        file.add(Done(key, f'"{key}"'.encode()))
    file.close()
    return path.read_bytes()


def known(path: Path) -> list[str]:
    """What a run that goes on with it would not do again."""
    file = ResultsFile(str(path), QUESTION)
    file.close()
    return sorted(file.known)


def test_a_file_cut_at_any_byte_keeps_what_was_whole(tmp_path: Path) -> None:
    """And once gone on with it says what it would have said."""
    path = tmp_path / "results"
    text = begun(path)
    ends = [at + 1 for at, byte in enumerate(text) if byte == ord("\n")]
    for length in range(len(text) + 1):
        path.write_bytes(text[:length])
        assert known(path) == list("abc")[: max(0, sum(end <= length for end in ends) - 1)]
        file = ResultsFile(str(path), QUESTION)
        for key in sorted(set("abc") - set(file.known)):
            file.add(Done(key, f'"{key}"'.encode()))
        file.close()
        assert path.read_bytes() == text


@pytest.mark.parametrize("damaged", [b"\x00\xff\x00", b"[]", b"", b'{"task":7}', b'{"task":"b","result":"\xff"}'])
def test_a_damaged_line_is_a_task_to_do_again(tmp_path: Path, damaged: bytes) -> None:
    """The lines around it count."""
    path = tmp_path / "results"
    lines = begun(path).split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], damaged, *lines[3:]]))
    assert known(path) == ["a", "c"]


@pytest.mark.parametrize("text", [b"of somebody", b"a line\nand one without an end", b"{}\n", b"\n", b"\x00\xff"])
def test_a_file_of_something_else_is_left_as_it_is(tmp_path: Path, text: bytes) -> None:
    """To the last byte, though a line of it has no end."""
    path = tmp_path / "results"
    path.write_bytes(text)
    with pytest.raises(OtherQuestionError, match="another question"):
        ResultsFile(str(path), QUESTION)
    assert path.read_bytes() == text


def test_two_at_once_do_not_write_the_same_file(tmp_path: Path) -> None:
    """The second is told, and the first goes on."""
    first = ResultsFile(str(tmp_path / "results"), QUESTION)
    with pytest.raises(ReschedulerError, match="another process is writing it"):
        ResultsFile(str(tmp_path / "results"), QUESTION)
    first.add(Done("a", b"1"))
    first.close()
    assert known(tmp_path / "results") == ["a"]
