"""How the routes describe themselves in OpenAPI: parameters, documents and refusals."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from rescheduler.daemon.api.refusals import RefusedError

_TEXT: Final = {"text/plain": {"schema": {"type": "string"}}}


def document(name: str, meaning: str) -> dict[str, Any]:
    """An answer that is a JSON document of this form."""
    schema = {"$ref": f"#/components/schemas/{name}"}
    return {"description": meaning, "content": {"application/json": {"schema": schema}}}


def refusal(meaning: str) -> dict[str, Any]:
    """An answer in plain text."""
    return {"description": meaning, "content": _TEXT}


def empty(meaning: str) -> dict[str, Any]:
    """An answer without a body."""
    return {"description": meaning}


def query(name: str, meaning: str, **schema: Any) -> dict[str, Any]:
    """A parameter that may be left out."""
    return {"name": name, "in": "query", "required": False, "description": meaning, "schema": schema}


# Long lists in pages: how many, and from where on.

MOST_ITEMS: Final = 500


class Page(NamedTuple):
    """``limit`` items after the first ``start``, of the list that ``of`` names ("": not said)."""

    limit: int
    start: int = 0
    of: str = ""

    def next(self, length: int, of: str = "") -> str:
        """What the page after this one is asked for with; "" if there is none."""
        end = self.start + self.limit
        return "" if end >= length else base64.urlsafe_b64encode(f"{end}.{of}".encode()).decode()


def page_of(parameters: Mapping[str, str]) -> Page:
    """The page that is asked for. Raises RefusedError."""
    limit = parameters.get("limit", "100")
    if not limit.isascii() or not limit.isdigit() or len(limit) > 9 or not 1 <= int(limit) <= MOST_ITEMS:
        raise RefusedError(400, f"limit: wanted a whole number from 1 to {MOST_ITEMS}")
    text = parameters.get("continue", "")
    if not text:
        return Page(int(limit))
    try:
        start, _, of = base64.b64decode(text.encode(), altchars=b"-_", validate=True).decode().partition(".")
    except (binascii.Error, UnicodeError):
        raise _broken() from None
    if not start.isascii() or not start.isdigit() or len(start) > 9:
        raise _broken()
    return Page(int(limit), int(start), of)


def _broken() -> RefusedError:
    return RefusedError(400, "continue: wanted what the page before has told, as it stands there")


# How the routes of the daemon's API describe themselves in OpenAPI.

_MEANINGS: Final = {
    400: "A parameter, a header or the body is written wrongly",
    401: "No token, or none that is accepted",
    403: "The account has no right to it, or a page of another site asks",
    404: "There is no such thing",
    406: "Only JSON is answered",
    408: "The body was too long in coming",
    409: "Not as things stand; the message says why",
    412: "It has changed since it was read",
    413: "The body is too large",
    414: "The address is too long",
    415: "The body is not JSON",
    422: "A field is wrong; details.path says which",
    429: "Too many requests",
    431: "The headers are too large",
    503: "Somebody else leads, nobody can say who asks, or nothing is known yet",
}
_ALWAYS: Final = (400, 401, 403, 406, 414, 429, 431, 503)
_OF_BODIES: Final = (408, 413, 415, 422)
PAGE: Final = [
    query("limit", "Items on a page", type="integer", minimum=1, maximum=MOST_ITEMS),
    query("continue", "Where to go on, as the page before has told", type="string"),
]
Responses = dict[int | str, dict[str, Any]]


def answers(name: str, meaning: str, *more: int, status: int = 200) -> Responses:
    """The document that is answered, and what may be answered in its place."""
    return {status: document(name, meaning), **{code: document("Error", _MEANINGS[code]) for code in (*_ALWAYS, *more)}}


def answers_to_body(name: str, meaning: str, *more: int, status: int = 200) -> Responses:
    """The same for a request with a body."""
    return answers(name, meaning, *_OF_BODIES, *more, status=status)


def reading(*parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a request without a body."""
    return {"parameters": list(parameters)}


def writing(body: str, *parameters: dict[str, Any]) -> dict[str, Any]:
    """A request with this document as its body."""
    schema = {"$ref": f"#/components/schemas/{body}"}
    content = {"application/json": {"schema": schema}}
    return {"parameters": list(parameters), "requestBody": {"required": True, "content": content}}


def header(name: str, meaning: str, pattern: str) -> dict[str, Any]:
    """A header that may be left out."""
    schema = {"type": "string", "pattern": pattern}
    return {"name": name, "in": "header", "required": False, "description": meaning, "schema": schema}


IF_MATCH: Final = header("If-Match", "Only if it still stands as this ETag names it", '^(\\*|"[#-~]+")$')
IDEMPOTENCY_KEY: Final = header("Idempotency-Key", "The same request again gets the same answer", "^[!-~]{1,128}$")
