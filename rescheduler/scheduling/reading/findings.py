"""What reading a configuration brings up: problems that stop it, warnings that do not, each with its place."""

from __future__ import annotations

import re
from difflib import get_close_matches

from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Path
from rescheduler.policy.reading.errors import ReadingProblem
from rescheduler.scheduling.reading.documents import ConfigurationError, ReadDocument

_LONGEST_SHOWN = 60
_CREDENTIALS = re.compile(r"//[^/\s]*@")
_MOST_CHOICES_TOLD = 20
_MOST_KEPT = 100


class Findings:
    """Problems and warnings of one document, in the order in which they were found."""

    def __init__(self, document: ReadDocument) -> None:
        """Nothing is found yet."""
        self.document = document
        self.problems: list[ReadingProblem] = []
        self.warnings: list[ReadingProblem] = []

    def refuse(self, path: Path, text: str, *, at_key: bool = False) -> None:
        """The scheduler itself would not start with this."""
        self._add(self.problems, self.document.problem(path, text, at_key=at_key))

    def warn(self, path: Path, text: str, *, at_key: bool = False) -> None:
        """The scheduler itself corrects or ignores this, or it is not modelled."""
        self._add(self.warnings, self.document.problem(path, text, at_key=at_key))

    def note_doubled(self, *, is_refused: bool, reader: str) -> None:
        """Tell of fields that are written more than once."""
        for path, first, last in self.document.doubled:
            text = f"the same field twice, at lines {first} and {last}; "
            if is_refused:
                self.refuse(path, f"{text}{reader} refuses that: keep one", at_key=True)
            else:
                self.warn(path, f"{text}{reader} goes by the last", at_key=True)

    def warning_lines(self) -> tuple[str, ...]:
        """The warnings as text, in the order of the file."""
        told = [str(warning) for warning in sorted(self.warnings, key=_place)]
        if len(told) == _MOST_KEPT:
            told.append(f"{self.document.file}: there may be more warnings; only the first {_MOST_KEPT} are told")
        return tuple(told)

    def raise_problems(self) -> None:
        """Raise ConfigurationError with everything that is wrong, in the order of the file, if anything is."""
        if self.problems:
            raise ConfigurationError(sorted(self.problems, key=_place))

    @property
    def takes_problems(self) -> bool:
        """Whether a further problem would be kept; if not, looking for more is not worth it."""
        return len(self.problems) < _MOST_KEPT

    @property
    def takes_warnings(self) -> bool:
        """Whether a further warning would be kept."""
        return len(self.warnings) < _MOST_KEPT

    @staticmethod
    def _add(place: list[ReadingProblem], problem: ReadingProblem) -> None:
        if len(place) < _MOST_KEPT and problem not in place:
            place.append(problem)


def _place(problem: ReadingProblem) -> tuple[int, int]:
    return problem.line, problem.column


def quoted(name: str) -> str:
    """A name as people quote it."""
    return f'"{printable(name, _LONGEST_SHOWN)}"'


def choices(name: str, known: list[str]) -> str:
    """What could have been meant by an unknown name."""
    near = get_close_matches(name[:_LONGEST_SHOWN], known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    told = ", ".join(known[:_MOST_CHOICES_TOLD])
    return f"there are {told}" + (", ..." if len(known) > _MOST_CHOICES_TOLD else "")


def without_credentials(address: str) -> str:
    """An address safe to print: no user and password in it, no control characters."""
    return printable(_CREDENTIALS.sub("//", address), _LONGEST_SHOWN * 2)
