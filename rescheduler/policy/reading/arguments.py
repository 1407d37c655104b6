"""Checks the arguments of objectives and triggers against what each of them takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Path
from rescheduler.policy.reading.known_fields import ARGUMENT_FORMS, fields_of, generic


def argument_errors(data: Mapping[str, Any]) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Place and error, as pydantic tells it, of every argument that is wrong in a policy as read."""
    for field, form in ARGUMENT_FORMS.items():
        entries = data.get(field)
        for number, found in enumerate(entries if isinstance(entries, list) else ()):
            entry = found if isinstance(found, dict) else {}
            name, args = entry.get("name", form.default), entry.get("args", {})
            model = form.models.get(name) if isinstance(name, str) else None
            if model is None or not isinstance(args, dict):
                continue
            try:
                model.model_validate_json(json.dumps(args), by_alias=True, by_name=False)
            except ValidationError as error:
                for one in error.errors(include_url=False):
                    yield (field, number, "args", *one["loc"]), one


def is_below_arguments(path: Path) -> bool:
    """Whether something stands among the arguments of an objective or trigger."""
    return len(path) > 3 and path[0] in ARGUMENT_FORMS and path[2] == "args"


def advice_on_argument(data: Any, path: Path) -> str:
    """What to write in place of an argument that an objective or trigger does not have; ``data``: the policy as read.

    ``path`` is below its arguments.
    """
    form = ARGUMENT_FORMS[str(path[0])]
    owner = data[path[0]][path[1]].get("name", form.default)
    name, level = str(path[-1]), generic(path[3:-1])
    known = [str(field[-1]) for field, _ in fields_of(form.models[owner]) if field[:-1] == level]
    what = "unknown field" if level else "unknown argument"
    near = get_close_matches(name, known, n=1)
    if near:
        return f"{what}; did you mean {near[0]}?"
    if level:
        return f"{what}; there are {', '.join(known)}"
    if name in {field.alias for field in form.entry.model_fields.values()}:
        return f"unknown argument; {name} stands beside name, not under args"
    if not known:
        return f"{owner} takes no arguments; leave args out"
    owners = [other for other, of in form.models.items() if name in {each.alias for each in of.model_fields.values()}]
    if owners:
        return f"{printable(name, 60)} is an argument of {' and '.join(owners)}; {owner} takes {', '.join(known)}"
    return f"unknown argument; {owner} takes {', '.join(known)}"
