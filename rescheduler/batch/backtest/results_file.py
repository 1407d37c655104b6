"""The results of a run, a line each, flushed at once: what a run that was cut off goes on from."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import msgspec

from rescheduler.batch.engine.tasks import Done
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.printable import shortened


class OtherQuestionError(ReschedulerError):
    """A file of results answers something else; it is left as it is."""


class _Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """``task``: what was done, by its digest."""

    task: str
    result: str | None = None
    failure: str = ""


class ResultsFile:
    """Lines are only added; one that was cut short is dropped."""

    def __init__(self, path: str, question: Any) -> None:
        """``question``: what is asked, as plain data. Raises OtherQuestionError, ReschedulerError."""
        self._told = f"--resume {shortened(path)}"
        asked = msgspec.json.encode({"asked": question}, order="sorted")
        try:
            self._stream: IO[bytes] = Path(path).open("a+b")  # noqa: SIM115 - as long as the run
        except OSError as error:
            raise ReschedulerError(f"{self._told}: {error.strerror or error}") from error

        try:
            self.known = self._begun(asked)
        except OSError as error:
            self.close()
            raise self._unwritten(error) from error
        except BaseException:
            self.close()
            raise

    def add(self, done: Done) -> None:
        """One more. Raises ReschedulerError on a full disk."""
        result = None if done.result is None else done.result.decode()
        try:
            self._stream.write(msgspec.json.encode(_Line(done.key, result, done.failure)) + b"\n")
            self._stream.flush()
        except OSError as error:
            raise self._unwritten(error) from error

    def close(self) -> None:
        """Let others go on with it; a line that the disk has no room for was told of before."""
        with suppress(OSError):
            self._stream.close()

    def _unwritten(self, error: OSError) -> ReschedulerError:
        return ReschedulerError(f"{self._told}: cannot be written: {error.strerror or error}")

    def _begun(self, asked: bytes) -> dict[str, Done]:
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ReschedulerError(f"{self._told}: another process is writing it") from None
        self._stream.seek(0)
        text, head = self._stream.read(), asked + b"\n"
        if not text.startswith(head[: len(text)]):
            raise OtherQuestionError(
                f"{self._told}: holds the answers to another question (another archive, policy, option or version); "
                "name another file, or ask as then"
            )
        if len(text) < len(head):  # a new file, or its first line was cut short
            self._stream.truncate(0)
            self._stream.write(head)
            self._stream.flush()
            return {}
        whole = text[: text.rindex(b"\n")]
        if len(whole) + 1 < len(text):
            self._stream.truncate(len(whole) + 1)
        return dict(_read(whole.split(b"\n")[1:]))


def _read(lines: list[bytes]) -> Iterator[tuple[str, Done]]:
    for text in lines:
        try:
            line = msgspec.json.decode(text, type=_Line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # damaged: the task is done again
        yield line.task, Done(line.task, None if line.result is None else line.result.encode(), line.failure)


@contextmanager
def results_file(path: str | None, question: Any) -> Iterator[ResultsFile | None]:
    """The file, for as long as a run takes; None: nobody wants one."""
    if path is None:
        yield None
        return
    found = ResultsFile(path, question)
    try:
        yield found
    finally:
        found.close()


def task_key(text: bytes) -> str:
    """What a task is known by."""
    return sha256(text).hexdigest()[:24]
