"""Files that a policy names in its fields, made relative to the policy's own folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Any, Final

from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.document import Document

# What a policy is known by: the beginning of the sha256 of all that it says, itself and in the files it names.

ID_LENGTH: Final = 12
NO_FILES: Final[Mapping[str, bytes]] = MappingProxyType({})


def policy_id(policy: Policy, contents: Mapping[str, bytes] = NO_FILES) -> str:
    """Equal for policies that say the same, however they are written; an acknowledgement is no part of it.

    ``contents``: of the files that the policy names, as ``named_files`` tells them.
    """
    said = policy.model_dump(mode="json", by_alias=True)
    said["metadata"].pop("acknowledged")
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode())
    for name in sorted(contents):
        digest.update(json.dumps([name, hashlib.sha256(contents[name]).hexdigest()]).encode())
    return digest.hexdigest()[:ID_LENGTH]


def named_files(policy: Policy) -> tuple[str, ...]:
    """Files whose content is part of what the policy says; credentials and recordings change by nature, and are not."""
    named = [*(source.file for source in policy.schedulers), policy.prices.file]
    return tuple(dict.fromkeys(name for name in named if name is not None))


_FILE_FIELDS: Final = frozenset({"file", "caFile", "certFile", "keyFile"})
"""Fields that name a file wherever they stand below ``usage``."""


def anchor_usage_files(document: Document) -> None:
    """Make the relative files below these fields relative to the policy's own folder.

    Done before several policies become one, since each may stand in another folder. What is no text is left for the
    validation to tell of.
    """
    data = document.data if isinstance(document.data, dict) else {}
    usage, folder = data.get("usage"), FilePath(document.file).parent
    below = [one for name in ("stop", "audit", "api", "prices") for one in _levels(data.get(name))]
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
