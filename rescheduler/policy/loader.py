"""Reads policy files strictly: all problems at once, each with its place and what to write instead."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator, Sequence
from functools import reduce
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from rescheduler.policy.document import Document, Path, merged, without
from rescheduler.policy.errors import PolicyError, Problem
from rescheduler.policy.known_fields import LATER_FIELDS, NOT_YET, generic
from rescheduler.policy.models import API_VERSION, KIND, Policy
from rescheduler.policy.schedulers import anchor_files
from rescheduler.policy.usage_files import anchor_usage_files
from rescheduler.policy.wording import text_for
from rescheduler.policy.yaml_reader import MOST_BYTES, read_document


def load_policy(files: Sequence[str | FilePath]) -> Policy:
    """Read policies of which a later one wins field by field; none given: the defaults.

    Raises PolicyError with everything that is wrong in any of them.
    """
    documents = [read_document(str(file), _bytes(str(file))) for file in files]
    for document in documents:
        anchor_files(document)
    return policy_of(documents)


def parse_policy(text: str, file: str = "policy") -> Policy:
    """Read one policy from text. Raises PolicyError."""
    return policy_of([read_document(file, text.encode())])


def policy_of(documents: Sequence[Document]) -> Policy:
    """The policy that documents make together. Raises PolicyError."""
    if not documents:
        return Policy()
    problems: list[Problem] = []
    policy = Policy()
    for document in documents:
        policy, found = _checked(document)
        problems += found
    if not problems and len(documents) > 1:
        policy, problems = _validated(reduce(merged, documents))
    if problems:
        raise PolicyError(problems)
    return policy


def _bytes(file: str) -> bytes:
    """The file's bytes, one more than is allowed at most."""
    if not file:
        raise _unusable(file, "an empty file name; name a policy file")
    try:
        if FilePath(file).is_fifo() and not file.startswith("/dev/"):  # opening it would wait for a writer for ever
            raise _unusable(file, "a pipe; name a policy file")
        with FilePath(file).open("rb") as stream:
            if stat.S_ISCHR(os.fstat(stream.fileno()).st_mode):
                raise _unusable(file, "a device; name a policy file")
            return stream.read(MOST_BYTES + 1)
    except IsADirectoryError:
        raise _unusable(file, "a folder; name a policy file in it") from None
    except (OSError, ValueError) as error:
        raise _unusable(file, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _unusable(file: str, text: str) -> PolicyError:
    return PolicyError([Problem(file, 0, 0, "", text)])


def _checked(document: Document) -> tuple[Policy, list[Problem]]:
    """One file by itself: what it says wrongly, and the policy it makes alone."""
    problems = list(document.problems)
    if not isinstance(document.data, dict):
        if not problems:
            problems.append(document.problem((), "not a policy; write fields such as apiVersion: " + API_VERSION))
        return Policy(), problems
    problems += _missing_identity(document)
    problems += list(_not_yet(document))
    anchor_usage_files(document)
    policy, found = _validated(document)
    return policy, sorted(problems + found, key=lambda problem: (problem.line, problem.column))


def _missing_identity(document: Document) -> Iterator[Problem]:
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if document.data.get(field) is None:
            yield document.problem((field,), f"missing; write {field}: {wanted}")


def _not_yet(document: Document) -> Iterator[Problem]:
    """Fields of later versions: refused where they ask for something, taken out either way."""
    for path in [path for path in document.keys if generic(path) in LATER_FIELDS]:
        value = _at(document.data, path)
        if value not in (None, [], {}):
            yield document.problem(path, NOT_YET, at_key=True)
        without(document, path)


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step]
    return data


def _validated(document: Document) -> tuple[Policy, list[Problem]]:
    # JSON is the door: pydantic's strict mode takes lists and texts from it, and nothing that only resembles them.
    try:
        return Policy.model_validate_json(json.dumps(_without_nulls(document.data))), []
    except ValidationError as error:
        found = [(_real_path(document, one["loc"]), one) for one in error.errors(include_url=False)]
    problems = []
    for path, one in found:
        text = text_for(document, path, one)
        if text is not None:
            problems.append(document.problem(path, text, at_key=one["type"] == "extra_forbidden"))
    return Policy(), problems


def _real_path(document: Document, location: Sequence[str | int]) -> Path:
    """An error's place as it stands in the file: a nodeSelector may be written as a plain map."""
    path = tuple(location)
    return (
        path if path in document.values or "matchLabels" not in path else tuple(p for p in path if p != "matchLabels")
    )


def _without_nulls(data: Any) -> Any:
    """A field set to nothing means its default."""
    if isinstance(data, dict):
        return {key: _without_nulls(value) for key, value in data.items() if value is not None}
    return [_without_nulls(item) for item in data] if isinstance(data, list) else data
