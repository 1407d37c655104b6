"""How the routes describe themselves in OpenAPI: parameters, documents and refusals."""

from __future__ import annotations

from typing import Any, Final

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
