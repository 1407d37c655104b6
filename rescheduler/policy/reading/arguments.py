"""Checks the arguments of objectives and triggers against what each of them takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from rescheduler.extension_points.plugin_list import PluginError
from rescheduler.model.printable import printable
from rescheduler.policy.reading.document import Path
from rescheduler.policy.reading.known_fields import KnownFields, fields_of, generic, named_entries


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
