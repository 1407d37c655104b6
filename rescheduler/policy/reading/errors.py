"""What is wrong with a policy: every problem with its place, told in one go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from rescheduler.model.printable import printable

MOST_PROBLEMS_TOLD = 50


class ReadingProblem(NamedTuple):
    """One thing wrong in a policy file. ``line`` and ``column`` count from 1; 0 where the file has no such place."""

    file: str
    line: int
    column: int
    path: str
    text: str

    def __str__(self) -> str:
        file = printable(self.file)
        place = f"{file}:{self.line}:{self.column}" if self.line else file
        return ": ".join(part for part in (place, self.path, self.text) if part)


class PolicyError(Exception):
    """A policy cannot be used. ``problems`` are all that were found, in the order of the files."""

    def __init__(self, problems: Sequence[ReadingProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))

    def __str__(self) -> str:
        told = [str(problem) for problem in self.problems[:MOST_PROBLEMS_TOLD]]
        if len(self.problems) > MOST_PROBLEMS_TOLD:
            told.append(f"and {len(self.problems) - MOST_PROBLEMS_TOLD} more")
        return "\n".join(told)


@contextmanager
def named(files: Sequence[str]) -> Iterator[None]:
    """Name the policy's files in problems found after it was read, which know only the field."""
    try:
        yield
    except PolicyError as error:
        names = ", ".join(files)
        raise PolicyError([problem._replace(file=problem.file or names) for problem in error.problems]) from None
