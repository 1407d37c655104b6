"""Values out of YAML events: no tags, no duplicate keys, no deep nesting, aliases only as far as they are harmless."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

import yaml

from rescheduler.adapters.kubernetes.decoding.errors import BrokenTextError
from rescheduler.adapters.recording.limits import DEEPEST_NESTING, LARGEST_YAML_EXPANSION_BYTES
from rescheduler.model.printable import shortened

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WHOLE: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,30})")
_DECIMAL: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: Final = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_QUOTED: Final = ("'", '"', "|", ">")
_NOT_NUMBERS: Final = frozenset({".nan", ".NaN", ".NAN", ".inf", "-.inf", "+.inf", ".Inf", "-.Inf", "+.Inf"})


class _Anchored(NamedTuple):
    """A value that may be repeated, and about how many bytes it is."""

    value: Any
    size: int


class YamlValues:
    """The values of a YAML text, one after the other.

    An alias repeats a value, as some writers do for equal parts; all repetitions together may not grow beyond
    LARGEST_YAML_EXPANSION_BYTES.
    """

    def __init__(self, text: bytes) -> None:
        """Nothing is parsed yet."""
        self._events = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, _Anchored] = {}
        self._expanded = 0
        self._size = 0  # of all values so far, as JSON, roughly

    def next(self) -> Any:
        """The next event. Raises BrokenTextError."""
        try:
            event: Any = next(self._events)
        except yaml.YAMLError as error:
            raise BrokenTextError(_complaint(error)) from error
        except UnicodeDecodeError as error:
            raise BrokenTextError("the text is not UTF-8", error.start) from error
        if getattr(event, "tag", None):
            raise BrokenTextError(f"{place(event)}: tag {shortened(str(event.tag))} is not allowed")
        if isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}
        return event

    def value(self, event: Any, depth: int = 1) -> Any:
        """The value that begins with an event. Raises BrokenTextError."""
        if depth > DEEPEST_NESTING:
            raise BrokenTextError(f"{place(event)}: nested deeper than {DEEPEST_NESTING} levels")
        if isinstance(event, yaml.AliasEvent):
            return self._repeated(event)
        before = self._size
        self._size += 2
        found: Any
        if isinstance(event, yaml.MappingStartEvent):
            found = {}
            while not isinstance(inner := self.next(), yaml.MappingEndEvent):
                key = self.key(inner, found)
                found[key] = self.value(self.next(), depth + 1)
        elif isinstance(event, yaml.SequenceStartEvent):
            found = []
            while not isinstance(inner := self.next(), yaml.SequenceEndEvent):
                found.append(self.value(inner, depth + 1))
        else:
            found = scalar(event)
            self._size += len(event.value)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(found, self._size - before)
        return found

    def key(self, event: Any, mapping: dict[str, Any]) -> str:
        """A key that the mapping does not have yet. Raises BrokenTextError."""
        if not isinstance(event, yaml.ScalarEvent):
            raise BrokenTextError(f"{place(event)}: a key must be a plain text")
        key = str(event.value)
        if key in mapping:
            raise BrokenTextError(f"{place(event)}: key {shortened(key)!r} stands twice in one mapping")
        self._size += len(key) + 4
        return key

    def _repeated(self, event: Any) -> Any:
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            raise BrokenTextError(f"{place(event)}: alias *{shortened(event.anchor)} repeats nothing that is complete")
        self._size += anchored.size
        self._expanded += anchored.size
        if self._expanded > LARGEST_YAML_EXPANSION_BYTES:
            limit = LARGEST_YAML_EXPANSION_BYTES // 2**20
            raise BrokenTextError(f"{place(event)}: aliases expand to more than {limit} MiB; write the values out")
        return anchored.value


def scalar(event: Any) -> Any:
    """Plain words as null, booleans and numbers; whatever is quoted, or anything else, as text.

    A number too large for its type stays text, so that the field it stands in can refuse it by name.
    """
    text = str(event.value)
    if event.style in _QUOTED:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if text in _NOT_NUMBERS:
        raise BrokenTextError(f"{place(event)}: {text} is no number that can be used here")
    if _WHOLE.fullmatch(text):
        return int(text)
    if _DECIMAL.fullmatch(text) and ("." in text or "e" in text.lower()):
        number = float(text)
        return number if abs(number) < 1e300 else text
    return text


def place(event: Any) -> str:
    """Line and column, as editors count."""
    mark = event.start_mark
    return f"line {mark.line + 1}, column {mark.column + 1}"


def _complaint(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "the text is no YAML"
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return shortened(f"{where}{problem}", 300)
