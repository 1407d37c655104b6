"""How the routes of the daemon's API describe themselves in OpenAPI."""

from __future__ import annotations

from typing import Any, Final

from rescheduler.server.descriptions import document, query
from rescheduler.server.paging import MOST_ITEMS

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
