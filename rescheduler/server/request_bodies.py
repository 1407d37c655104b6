"""What comes with a request: its body as a checked document, its headers and its parameters."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from typing import Final, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from rescheduler.model.printable import printable
from rescheduler.server.refusals import CLOSE, JSON, Details, RefusedError
from rescheduler.server.strict_json import JsonError, read_json

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
