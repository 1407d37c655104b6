"""Files that ``usage``, ``stop``, ``audit`` and ``api`` of a policy name, made relative to the policy's own folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import Any, Final

from rescheduler.policy.document import Document

_FILE_FIELDS: Final = frozenset({"file", "caFile", "certFile", "keyFile"})
"""Fields that name a file wherever they stand below ``usage``."""


def anchor_usage_files(document: Document) -> None:
    """Make the relative files below these fields relative to the policy's own folder.

    Done before several policies become one, since each may stand in another folder. What is no text is left for the
    validation to tell of.
    """
    data = document.data if isinstance(document.data, dict) else {}
    usage, folder = data.get("usage"), FilePath(document.file).parent
    below = [one for name in ("stop", "audit", "api") for one in _levels(data.get(name))]
    for level, field in [*_levels(usage), *_paths(usage), *below]:
        name = level.get(field)
        if isinstance(name, str) and name and not FilePath(name).is_absolute():
            level[field] = str(folder / name)


def _levels(data: Any) -> Iterator[tuple[dict[str, Any], str]]:
    if isinstance(data, dict):
        for field, value in data.items():
            if field in _FILE_FIELDS:
                yield data, field
            elif field != "headers":  # a header may have any name
                yield from _levels(value)
    elif isinstance(data, list):
        for item in data:
            yield from _levels(item)


def _paths(usage: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """The store, whose field is called ``path``."""
    store = usage.get("store") if isinstance(usage, dict) else None
    if isinstance(store, dict):
        yield store, "path"
