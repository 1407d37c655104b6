"""API objects out of JSON text of any length: lists are taken apart item by item, never held whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from rescheduler.adapters.files.recording.documents import LARGEST_OBJECT_BYTES, Envelope, Item, head_of, item_of
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, broken_text

_LONGEST_TOKEN_END: Final = 16
_SPACE: Final = re.compile(rb"[ \t\r\n]*")
_ANYTHING: Final = msgspec.json.Decoder(msgspec.Raw)
_TEXT: Final = msgspec.json.Decoder(str)


class JsonText:
    """A position in JSON text that arrives in chunks. Offsets in errors count from the start of the text."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        """``chunks`` are read as far as needed."""
        self._chunks = chunks
        self._buffer = b""
        self._position = 0
        self._offset = 0  # of the buffer's first byte

    @property
    def offset(self) -> int:
        """Of the next byte."""
        return self._offset + self._position

    def peek(self) -> bytes:
        """The next byte that is no white space; empty at the end."""
        while True:
            match = _SPACE.match(self._buffer, self._position)
            self._position = match.end() if match else self._position
            if self._position < len(self._buffer):
                return self._buffer[self._position : self._position + 1]
            if not self._grow():
                return b""

    def expect(self, mark: bytes) -> None:
        """Pass over one mark. Raises BrokenTextError."""
        found = self.peek()
        if found != mark:
            raise self.unexpected(found, mark.decode())
        self._position += 1

    def unexpected(self, found: bytes, wanted: str) -> BrokenTextError:
        """The error for a byte that does not belong here."""
        if not found:
            return BrokenTextError("the text ends in the middle; was it cut off?", self.offset)
        return BrokenTextError(f"found {found.decode('latin-1')!r} where {wanted} was wanted", self.offset)

    def value(self) -> bytes:
        """The next value of any type, passed over. Raises BrokenTextError.

        The parser is asked for one value; its complaint about what follows says where the value ends.
        """
        self.peek()
        while True:
            try:
                _ANYTHING.decode(memoryview(self._buffer)[self._position :])
            except msgspec.DecodeError as error:
                broken = broken_text(error)
                if broken.problem == "trailing characters" and broken.offset is not None:
                    return self._take(broken.offset - 1)  # it counts the byte that it has just looked at
                if not (self._may_be_cut(broken) and self._grow()):
                    raise self._placed(broken) from error
            except RecursionError as error:
                raise BrokenTextError("the text is nested too deeply", self.offset) from error
            else:
                if not self._grow():
                    return self._take(len(self._buffer) - self._position)

    def _may_be_cut(self, broken: BrokenTextError) -> bool:
        """Whether the complaint may be only that a number or an escape goes on in the next chunk."""
        return broken.offset is None or self._position + broken.offset + _LONGEST_TOKEN_END > len(self._buffer)

    def _take(self, length: int) -> bytes:
        start, self._position = self._position, self._position + length
        return self._buffer[start : self._position]

    def _placed(self, broken: BrokenTextError) -> BrokenTextError:
        if broken.offset is None:
            end = self._offset + len(self._buffer)
            return BrokenTextError("the text ends in the middle; was it cut off?", end)
        return BrokenTextError(broken.problem, self.offset + broken.offset)

    def _grow(self) -> bool:
        """Read on, at least as much as is held, so that long values are not looked at too often."""
        if len(self._buffer) - self._position > LARGEST_OBJECT_BYTES:
            raise BrokenTextError(f"one value is larger than {LARGEST_OBJECT_BYTES // 2**20} MiB", self.offset)
        parts = [self._buffer[self._position :]]
        wanted, read = len(parts[0]), 0
        for chunk in self._chunks:
            parts.append(chunk)
            read += len(chunk)
            if read >= wanted:
                break
        self._offset += self._position
        self._buffer, self._position = b"".join(parts), 0
        return read > 0


def json_objects(chunks: Iterator[bytes]) -> Iterator[Item | Envelope]:
    """Objects of one or several JSON documents after each other. Raises BrokenTextError, ObjectError."""
    text = JsonText(chunks)
    while found := text.peek():
        if found == b"{":
            yield from _document(text)
        elif found == b"[":
            yield from _items(text, [None], [])
        else:
            raise text.unexpected(found, "{ or [")


def _document(text: JsonText) -> Iterator[Item | Envelope]:
    """One JSON object: a list of API objects, or an API object itself."""
    members: list[bytes] = []
    kinds: list[str | None] = [None]
    waiting: list[tuple[bytes, str]] = []
    is_list = False
    for name, key in _members(text):
        if name == "items" and text.peek() == b"[":
            is_list = True
            yield from _items(text, kinds, waiting)
            continue
        raw = text.value().strip()
        members.append(key + b":" + raw)
        if name == "kind":
            kinds[0] = head_of(b"{" + members[-1] + b"}", "the list")[0]
    whole = b"{" + b",".join(members) + b"}"
    kind, api_version = head_of(whole, "the document")
    for raw, where in waiting:
        item = item_of(raw, kind, where)
        assert item is not None
        yield item
    yield Envelope(kind, whole) if is_list or kind.endswith("List") else Item(kind, api_version, whole, "the document")


def _members(text: JsonText) -> Iterator[tuple[str, bytes]]:
    """Names of an object's members, as text and as written; each value must be passed over by the caller."""
    for _ in _entries(text, b"{", b"}"):
        if text.peek() != b'"':
            raise text.unexpected(text.peek(), 'a name in "quotes"')
        start, key = text.offset, text.value().strip()
        text.expect(b":")
        try:
            name = _TEXT.decode(key)
        except UnicodeDecodeError as error:
            raise BrokenTextError("the text is not UTF-8", start + 1 + error.start) from error
        yield name, key


def _entries(text: JsonText, opening: bytes, closing: bytes) -> Iterator[None]:
    """Stops at each entry of an object or array, which the caller passes over; commas stand between them only."""
    text.expect(opening)
    if text.peek() != closing:
        yield
        while text.peek() == b",":
            text.expect(b",")
            yield
    text.expect(closing)


def _items(text: JsonText, kinds: list[str | None], waiting: list[tuple[bytes, str]]) -> Iterator[Item]:
    """The items of a list; those whose kind the list has not told yet are put aside."""
    held = 0
    for number, _ in enumerate(_entries(text, b"[", b"]")):
        if text.peek() != b"{":
            raise text.unexpected(text.peek(), "an object of the list")
        raw, where = text.value().strip(), f"items[{number}]"
        item = item_of(raw, kinds[0], where)
        if item is not None:
            yield item
            continue
        waiting.append((raw, where))
        held += len(raw)
        if held > LARGEST_OBJECT_BYTES:
            raise BrokenTextError("the list names its kind after its items; it must come first", text.offset)
