"""The one reader of YAML files, and of JSON as YAML: plain data out of the parser's events, each value with its place.

Built on events, not on objects, so that hostile texts are stopped while they are being read. What a kind of file may
hold is said by a class below ``YamlReader``: policies, schedulers' configurations, recordings and plans have one each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, Final, NamedTuple, NoReturn

import yaml

from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Document, Path, Place, written
from rescheduler.policy.reading.errors import ReadingProblem

FAST_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""For large texts that programs write; its messages are poorer."""
QUOTED: Final = ("'", '"', "|", ">")
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
NOT_NUMBERS: Final = frozenset({".nan", ".NaN", ".NAN", ".inf", "-.inf", "+.inf", ".Inf", "-.Inf", "+.Inf"})
_WHOLE: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,30})")
_DECIMAL: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")


class YamlTextError(Exception):
    """A text cannot be read any further. ``is_syntax``: it is no YAML at all, and ``problem`` says what was found."""

    def __init__(self, problem: ReadingProblem, *, is_syntax: bool = False) -> None:
        super().__init__(str(problem))
        self.problem = problem
        self.is_syntax = is_syntax


class _Anchored(NamedTuple):
    """A value that may be repeated, how large it is, and how many levels it has."""

    value: Any
    size: int
    height: int


class YamlReader:
    """Turns a text's events into data, one after another. Everything raises YamlTextError."""

    deepest: ClassVar[int] = 100
    """Levels of lists and maps, repeated values included."""
    most_entries: ClassVar[int | None] = None
    few_lines: ClassVar[str] = ""
    """What is told of a text with more."""
    allows_aliases: ClassVar[bool] = False
    allows_tags: ClassVar[bool] = False
    loader: ClassVar[Any] = yaml.SafeLoader
    no_anchor: ClassVar[str] = "the alias *{} names nothing that stands before it"
    no_tag: ClassVar[str] = "the tag {} is not allowed; write plain values"
    no_key: ClassVar[str] = "a list or a map cannot be a key; write a name"
    too_deep: ClassVar[str] = "nested deeper than {} levels"

    def __init__(self, text: str | bytes, file: str = "") -> None:
        """Nothing is parsed yet. ``file`` is named in what is raised."""
        self.text = text
        self.file = file
        self.document: Document | None = None
        """Where places are kept, if they are."""
        self.size = 0
        """Of all values so far: their number, or what ``count`` makes of it."""
        self.expanded = 0
        """What repetitions have added to it."""
        self._parser: Any = None
        self._anchors: dict[str, _Anchored] = {}
        self._height = 0  # of the last value

    def documents(self) -> Iterator[Any]:
        """The value of each document of the text; None for an empty one."""
        while (event := self.next()) is not None:
            if isinstance(event, yaml.DocumentStartEvent):
                self.begin(event)
                yield self.value(self.next())

    def begin(self, event: Any) -> None:
        """A document begins."""

    def next(self) -> Any:
        """The next event; None after the last."""
        try:
            if self._parser is None:
                self._parser = self.loader(self.text)
            event = self._parser.get_event()
        except yaml.reader.ReaderError as error:
            raise self._unreadable(error) from error
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            reason = "a tab stands where YAML wants spaces" if "'\\t'" in str(error.problem) else str(error.problem)
            raise YamlTextError(ReadingProblem(self.file, line, column, "", reason), is_syntax=True) from error
        except UnicodeDecodeError as error:
            raise YamlTextError(ReadingProblem(self.file, 0, 0, "", f"not UTF-8 at byte {error.start}")) from error
        except (ValueError, OverflowError) as error:  # an escape such as \UFFFFFFFF
            text = "an escape in a quoted text stands for no character"
            raise YamlTextError(ReadingProblem(self.file, 0, 0, "", text)) from error
        if isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}
        return event

    def value(self, event: Any, path: Path = (), depth: int = 1) -> Any:
        """The value that begins with an event. ``path``: where it stands; ``depth``: the level, from 1."""
        if self.document is not None:
            self.document.values.setdefault(path, self.place(event))
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event, path, depth)
        before = self.size
        self.count(event, path, 1)
        if event.anchor is not None or event.tag is not None:
            self.check(event, path)
        found: Any
        if isinstance(event, yaml.ScalarEvent):
            found, self._height = self.scalar(event, path), 0
        else:
            if depth > self.deepest:
                self.refuse(event, self.too_deep.format(self.deepest), path)
            is_list = isinstance(event, yaml.SequenceStartEvent)
            found = self._list(path, depth) if is_list else self._mapping(path, depth)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(found, self.size - before, self._height)
        return found

    def key(self, event: Any, found: dict[str, Any], path: Path = ()) -> str:
        """A key of the map that stands at a path and holds what was found so far."""
        if isinstance(event, yaml.AliasEvent):
            self._anchored(event, path)
            self.refuse(event, self.no_key.replace("a list or a map", "an alias"), path)
        if event.anchor is not None or event.tag is not None:
            self.check(event, path)
        if not isinstance(event, yaml.ScalarEvent):
            self.refuse(event, self.no_key, path)
        name = str(event.value)
        if name in found:
            self.doubled(event, (*path, name))
        elif self.document is not None:
            self.document.keys.setdefault((*path, name), self.place(event))
        return name

    def count(self, event: Any, path: Path, size: int) -> None:
        """One more value, or key where they count, of that size."""
        self.size += size
        if self.most_entries is not None and self.size > self.most_entries:
            self.refuse(event, f"more than {self.most_entries:,} entries; {self.few_lines}", path)

    def check(self, event: Any, path: Path) -> None:
        """Refuse what may not stand before a value or key."""
        if event.anchor is not None and not self.allows_aliases:
            self.refuse(event, "anchors are not allowed; write the value out where it is used", path)
        if not self.allows_tags and getattr(event, "tag", None) is not None:
            self.refuse(event, self.no_tag.format(printable(event.tag, 60)), path)

    def doubled(self, event: Any, path: Path) -> None:
        """A key stands twice in one map."""
        self.refuse(event, f"the field {printable(str(event.value), 60)} stands twice in one place", path[:-1])

    def store(self, found: dict[str, Any], key: str, value: Any) -> None:
        """Put a value into its map."""
        found[key] = value

    def whole(self, found: dict[str, Any]) -> None:
        """A map is complete."""

    def scalar(self, event: Any, path: Path) -> Any:
        """Plain words as null, booleans and numbers; whatever is quoted, or anything else, as text.

        A number too large for its type stays text, so that the field it stands in can refuse it by name.
        """
        text = str(event.value)
        if event.style in QUOTED:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if text in NOT_NUMBERS:
            self.refuse(event, f"{text} is no number that can be used here", path)
        if _WHOLE.fullmatch(text):
            return int(text)
        if _DECIMAL.fullmatch(text) and ("." in text or "e" in text.lower()):
            number = float(text)
            return number if abs(number) < 1e300 else text
        return text

    def place(self, event: Any) -> Place:
        """File, line and column of an event, as editors count."""
        mark = event.start_mark
        return self.file, mark.line + 1, mark.column + 1

    def refuse(self, event: Any, text: str, path: Path = ()) -> NoReturn:
        """Raise YamlTextError at an event."""
        raise YamlTextError(ReadingProblem(*self.place(event), written(path), text))

    def _list(self, path: Path, depth: int) -> list[Any]:
        found: list[Any] = []
        height = 0
        while not isinstance(event := self.next(), yaml.SequenceEndEvent):
            found.append(self.value(event, (*path, len(found)), depth + 1))
            height = max(height, self._height)
        self._height = height + 1
        return found

    def _mapping(self, path: Path, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        height = 0
        while not isinstance(event := self.next(), yaml.MappingEndEvent):
            key = self.key(event, found, path)
            self.store(found, key, self.value(self.next(), (*path, key), depth + 1))
            height = max(height, self._height)
        self._height = height + 1
        self.whole(found)
        return found

    def _repeated(self, event: Any, path: Path, depth: int) -> Any:
        value, size, self._height = self._anchored(event, path)
        if depth - 1 + self._height > self.deepest:
            self.refuse(event, self.too_deep.format(self.deepest), path)
        self.expanded += size
        self.count(event, path, size)
        self.repeated(event)
        return value

    def _anchored(self, event: Any, path: Path) -> _Anchored:
        if not self.allows_aliases:
            self.refuse(event, "aliases are not allowed; write the value out", path)
        if event.anchor not in self._anchors:
            self.refuse(event, self.no_anchor.format(printable(event.anchor, 60)), path)
        return self._anchors[event.anchor]

    def repeated(self, event: Any) -> None:
        """A value is repeated."""

    def _unreadable(self, error: yaml.reader.ReaderError) -> YamlTextError:
        if not isinstance(self.text, str):
            return YamlTextError(ReadingProblem(self.file, 0, 0, "", str(error.reason)))
        line = self.text.count("\n", 0, error.position) + 1
        text = f"the character {chr(error.character)!a} may not stand in YAML"
        return YamlTextError(ReadingProblem(self.file, line, 1, "", text))
