"""What comes with a request: its body as a checked document, its headers and its parameters."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from rescheduler.daemon.api.refusals import CLOSE, JSON, Details, RefusedError
from rescheduler.model.printable import printable

# JSON of a request, read strictly: nothing twice, nothing too deep, no numbers that JSON does not know.

DEEPEST: Final = 32
_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)|[\[\]{}:,]', re.DOTALL)
"""A text, though it may not end, so that none is ever looked at twice; or a mark."""


class JsonError(Exception):
    """What is wrong, and at which byte."""


class _Member(NamedTuple):
    name: bytes
    at: int


def read_json(body: bytes) -> Any:
    """The data. Raises JsonError."""
    _require_shallow(body)
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if "out of range" not in str(error):
            at = f" (byte {len(body)})" if "truncated" in str(error) else ""
            raise JsonError(f"not JSON: {printable(str(error), 200)}{at}") from None
        data = _with_large_numbers(body)
    _require_unlike_names(body)
    return data


def _with_large_numbers(body: bytes) -> Any:
    """The data with infinity for numbers that are too large: they are wrong where they stand, which is told later."""
    try:
        return json.loads(body, parse_int=float, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise JsonError(f"not JSON: {printable(str(error), 200)}") from None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def _require_shallow(body: bytes) -> None:
    depth = 0
    for token in _TOKEN.finditer(body):
        if token.group() in b"[{":
            depth += 1
            if depth > DEEPEST:
                raise JsonError(f"nested deeper than {DEEPEST} levels (byte {token.start()})")
        elif token.group() in b"]}":
            depth -= 1


def _require_unlike_names(body: bytes) -> None:
    """Decoders keep the last of two members of one name, and others the first: an attacker's way past a check."""
    seen: list[set[str]] = [set()]
    for kind, member in _members(body):
        if kind == b"{":
            seen.append(set())
        elif kind == b"}":
            seen.pop()
        elif member is not None:
            name = msgspec.json.decode(member.name, type=str)
            if name in seen[-1]:
                raise JsonError(f"the member {printable(name, 60)!r} stands there twice (byte {member.at})")
            seen[-1].add(name)


def _members(body: bytes) -> Iterator[tuple[bytes, _Member | None]]:
    """Braces, and the names of members, in their order; ``body`` is known to be JSON."""
    before: _Member | None = None
    for token in _TOKEN.finditer(body):
        text = token.group()
        if text in (b"{", b"}"):
            yield text, None
        elif text == b":":
            yield text, before
        before = _Member(text, token.start()) if text.startswith(b'"') else None


LARGEST_BODY: Final = 2**20
READ_SECONDS: Final = 10.0
"""Time for a whole body."""
_ETAG: Final = re.compile(r'(W/)?"([!#-~]*)"')
_KEY: Final = re.compile(r"[!-~]{1,128}")
Document = TypeVar("Document", bound=msgspec.Struct)


async def body_of(request: Request, form: type[Document]) -> Document:
    """The request's document. Raises RefusedError: 408, 413, 415, 400 (with the byte) or 422 (with the field)."""
    _require_json(request)
    raw = await _read(request)
    try:
        data = await run_in_threadpool(read_json, raw)
    except JsonError as error:
        raise RefusedError(400, str(error)) from None
    try:
        return msgspec.convert(data, type=form)
    except msgspec.ValidationError as error:
        text, _, place = str(error).partition(" - at `")
        path = place.removesuffix("`").removeprefix("$").removeprefix(".")
        raise RefusedError(422, f"{path or 'the document'}: {text}", details=Details(path=path)) from None


def _require_json(request: Request) -> None:
    kinds = request.headers.getlist("content-type")
    kind, _, parameters = (kinds[0] if len(kinds) == 1 else "").partition(";")
    is_utf8 = parameters.replace(" ", "").replace('"', "").lower() in ("", "charset=utf-8")
    if kind.strip().lower() != JSON or not is_utf8 or "content-encoding" in request.headers:
        raise RefusedError(415, f"wanted a body with the header Content-Type: {JSON}; an empty one is {{}}", CLOSE)


async def _read(request: Request) -> bytes:
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or len(length) > 12 or int(length) > LARGEST_BODY:
        raise _too_large()
    body = bytearray()
    try:
        async with asyncio.timeout(READ_SECONDS):
            async for part in request.stream():
                body += part
                if len(body) > LARGEST_BODY:
                    raise _too_large()
    except TimeoutError:
        raise RefusedError(408, f"the body did not come within {READ_SECONDS:g} seconds", CLOSE) from None
    except ClientDisconnect:
        raise RefusedError(400, "the body was cut off", CLOSE) from None
    return bytes(body)


def _too_large() -> RefusedError:
    return RefusedError(413, f"wanted a body of {LARGEST_BODY} bytes at most", CLOSE)


def matches_of(request: Request) -> Callable[[str], bool]:
    """What If-Match asks for, about a tag. Raises RefusedError for one that is none."""
    given = request.headers.getlist("if-match")
    shown = ",".join(given).strip()
    if not given or shown == "*":
        return lambda _: True
    found = [_ETAG.fullmatch(part.strip()) for part in shown.split(",")]
    if None in found:
        raise RefusedError(400, 'If-Match: wanted * or what was told as ETag, such as "switch-1"')
    tags = frozenset(tag.group(2) for tag in found if tag is not None and not tag.group(1))
    return lambda tag: tag in tags


def key_of(request: Request) -> str:
    """The Idempotency-Key, "" where there is none. Raises RefusedError."""
    shown = request.headers.getlist("idempotency-key")
    if not shown:
        return ""
    if len(shown) > 1 or _KEY.fullmatch(shown[0]) is None:
        raise RefusedError(400, "Idempotency-Key: wanted one text of 1 to 128 plain characters without spaces")
    return shown[0]


def parameters_of(request: Request, known: Collection[str] = ()) -> dict[str, str]:
    """The query's parameters, each at most once. Raises RefusedError."""
    found: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name not in known:
            there_are = f"there are {', '.join(sorted(known))}" if known else "none is taken here"
            raise RefusedError(400, f"unknown parameter {printable(name, 60)!r}; {there_are}")
        if name in found:
            raise RefusedError(400, f"{name}: given twice")
        found[name] = value
    return found
