"""Reads policy files strictly: all problems at once, each with its place and what to write instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import reduce
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from rescheduler.extension_points.plugin_list import PluginError
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy import API_VERSION, KIND, Policy
from rescheduler.policy.fields.schedulers import anchor_files
from rescheduler.policy.plugins import Plugins
from rescheduler.policy.reading.document import Document, Path, merged, written
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.file_bytes import file_bytes
from rescheduler.policy.reading.known_fields import KnownFields, fields_of, generic, named_entries
from rescheduler.policy.reading.named_files import anchor_usage_files
from rescheduler.policy.reading.objective_arguments import doubled_objectives
from rescheduler.policy.reading.policy_text import MOST_BYTES, read_document
from rescheduler.policy.reading.price_file import with_price_file
from rescheduler.policy.reading.wording import text_for
from rescheduler.policy.shipped import advice_on_missing, policy_file


def loaded(files: Sequence[str | FilePath], plugins: Plugins, prices: str | None = None) -> Policy:
    """Read policies of which a later one wins field by field; none given: the defaults.

    What is no file may be the name of a shipped policy. ``prices``: a file in place of their ``prices.file``. Raises
    PolicyError with all that is wrong in any of them.
    """
    return loaded_with_places(files, plugins, prices)[0]


def loaded_with_places(
    files: Sequence[str | FilePath], plugins: Plugins, prices: str | None = None
) -> tuple[Policy, Document | None]:
    """As ``loaded``, and what the files say together, with the place of each value; None: there are no files."""
    found = [policy_file(str(file)) for file in files]
    documents = [read_document(file, _bytes(file)) for file in found]
    for document in documents:
        anchor_files(document)
    policy = with_price_file(policy_of(documents, plugins), prices)
    return policy, reduce(merged, documents) if documents else None


def parsed(text: str, file: str, plugins: Plugins) -> Policy:
    """Read one policy from text. Raises PolicyError."""
    return policy_of([read_document(file, text.encode())], plugins)


def policy_of(documents: Sequence[Document], plugins: Plugins) -> Policy:
    """The policy that documents make together. Raises PolicyError."""
    if not documents:
        return Policy()
    problems: list[ReadingProblem] = []
    policy = Policy()
    for document in documents:
        policy, found = _checked(document, plugins)
        problems += found
    if not problems and len(documents) > 1:
        policy, problems = _validated(reduce(merged, documents), plugins)
    if problems:
        raise PolicyError(problems)
    return policy


def _bytes(file: str) -> bytes:
    advice = advice_on_missing(file) if file else ""
    return file_bytes(file, MOST_BYTES, "a policy file", advice)


def _checked(document: Document, plugins: Plugins) -> tuple[Policy, list[ReadingProblem]]:
    """One file by itself: what it says wrongly, and the policy it makes alone."""
    problems = list(document.problems)
    if not isinstance(document.data, dict):
        if not problems:
            problems.append(document.problem((), "not a policy; write fields such as apiVersion: " + API_VERSION))
        return Policy(), problems
    problems += _missing_identity(document)
    anchor_usage_files(document)
    policy, found = _validated(document, plugins)
    return policy, sorted(problems + found, key=lambda problem: (problem.line, problem.column))


def _missing_identity(document: Document) -> Iterator[ReadingProblem]:
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if document.data.get(field) is None:
            yield document.problem((field,), f"missing; write {field}: {wanted}")


def _validated(document: Document, plugins: Plugins) -> tuple[Policy, list[ReadingProblem]]:
    # JSON is the door: pydantic's strict mode takes lists and texts from it, and nothing that only resembles them.
    known = KnownFields(plugins, document.data)
    data, policy = _without_nulls(document.data, (), known), Policy()
    found: list[tuple[Path, Mapping[str, Any]]] = []
    try:
        policy = Policy.model_validate_json(json.dumps(data), by_alias=True, by_name=False, context=plugins)
    except ValidationError as error:
        found = [(one["loc"], one) for one in error.errors(include_url=False)]
    found += argument_errors(data, known)
    problems = _told(document, known, [(_real_path(document, path), one) for path, one in found])
    doubled = (*doubled_objectives(policy), *_doubled_triggers(policy))
    problems += [document.problem(path, f"{name} stands in the list already; write it once") for path, name in doubled]
    return (Policy(), problems) if problems else (policy, [])


def _doubled_triggers(policy: Policy) -> Iterator[tuple[Path, str]]:
    """Place and name of every trigger that stood in the list before, with the same arguments."""
    for number, trigger in enumerate(policy.triggers):
        if trigger in policy.triggers[:number]:
            yield ("triggers", number), trigger.name


def _told(
    document: Document, known: KnownFields, found: Sequence[tuple[Path, Mapping[str, Any]]]
) -> list[ReadingProblem]:
    problems = []
    for path, one in found:
        is_unknown = one["type"] == "extra_forbidden"
        text = advice_on_unknown(document.data, path, known) if is_unknown else text_for(document, path, one)
        if text is not None and not _is_told(document, path):
            problems.append(document.problem(path, text, at_key=is_unknown))
    return problems


def _is_told(document: Document, path: Path) -> bool:
    """Whether what stands there could not even be read, which is among the problems already."""
    here = written(path)
    return any(told.path == here or told.path.startswith((f"{here}.", f"{here}[")) for told in document.problems)


_LONG_FORMS = ("matchLabels", "resources", "table")


def _real_path(document: Document, location: Sequence[str | int]) -> Path:
    """An error's place as it stands in the file: some maps may be written without the level that they stand under."""
    path = tuple(location)
    if path in document.values:
        return path
    shorter = tuple(step for step in path if step not in _LONG_FORMS)
    return shorter if shorter in document.values or shorter[:-1] in document.values else path


def _without_nulls(data: Any, path: Path, known: KnownFields) -> Any:
    """A field set to nothing means its default; a label, a resource or an unknown field has none, and stays."""
    if isinstance(data, dict):
        here = {key: (*path, key) for key in data}
        kept = {key: value for key, value in data.items() if not known.means_default(here[key], value)}
        return {key: _without_nulls(value, here[key], known) for key, value in kept.items()}
    return [_without_nulls(item, (*path, 0), known) for item in data] if isinstance(data, list) else data


def argument_errors(data: Mapping[str, Any], known: KnownFields) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Place and error, as pydantic tells it, of every argument that is wrong in a policy as read."""
    for field, form in known.forms.items():
        for number, name, args in named_entries(data, field, form):
            if (name not in form.own and name not in form.names()) or not isinstance(args, dict):
                continue
            try:
                form.model(name).model_validate_json(json.dumps(args), by_alias=True, by_name=False)
            except PluginError as error:
                yield (field, number, "name"), {"type": "plugin", "msg": str(error)}
            except ValidationError as error:
                for one in error.errors(include_url=False):
                    yield (field, number, "args", *one["loc"]), one


def advice_on_unknown(data: Any, path: Path, known: KnownFields) -> str:
    """What to write in place of an unknown field or argument; ``data``: the policy as read."""
    is_argument = len(path) > 3 and path[0] in known.forms and path[2] == "args"
    return _advice_on_argument(data, path, known) if is_argument else known.advice_on(path)


def _advice_on_argument(data: Any, path: Path, known: KnownFields) -> str:
    form = known.forms[str(path[0])]
    owner = data[path[0]][path[1]].get("name", form.default)
    name, level = str(path[-1]), generic(path[3:-1])
    there = [str(field[-1]) for field, _ in fields_of(form.model(owner)) if field[:-1] == level]
    what = "unknown field" if level else "unknown argument"
    near = get_close_matches(name, there, n=1)
    if near:
        return f"{what}; did you mean {near[0]}?"
    if level:
        return f"{what}; there are {', '.join(there)}"
    if name in {field.alias for field in form.entry.model_fields.values()}:
        return f"unknown argument; {name} stands beside name, not under args"
    if not there:
        return f"{owner} takes no arguments; leave args out"
    owners = [other for other in form.own if name in {each.alias for each in form.model(other).model_fields.values()}]
    if owners:
        return f"{printable(name, 60)} is an argument of {' and '.join(owners)}; {owner} takes {', '.join(there)}"
    return f"unknown argument; {owner} takes {', '.join(there)}"
