"""The arguments of a policy's objectives, checked against what each objective takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from rescheduler.model.printable import printable
from rescheduler.policy.document import Path
from rescheduler.policy.known_fields import fields_of, generic
from rescheduler.policy.models import Objective, Policy
from rescheduler.policy.objectives import ARGUMENTS
from rescheduler.policy.policy_model import PolicyModel


def arguments_of(objective: Objective) -> PolicyModel:
    """An objective's arguments as its own model. Raises ValidationError where they were not checked before."""
    return ARGUMENTS[objective.name].model_validate_json(json.dumps(objective.args))


def argument_errors(objectives: object) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Place and error, as pydantic tells it, of every argument that is wrong in a policy's ``objectives`` as read."""
    for number, objective in enumerate(objectives if isinstance(objectives, list) else ()):
        entry = objective if isinstance(objective, dict) else {}
        name, args = entry.get("name", "MakeRoom"), entry.get("args", {})
        model = ARGUMENTS.get(name) if isinstance(name, str) else None
        if model is None or not isinstance(args, dict):
            continue
        try:
            model.model_validate_json(json.dumps(args), by_alias=True, by_name=False)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                yield ("objectives", number, "args", *one["loc"]), one


def advice_on_argument(objective: str, path: Path) -> str:
    """What to write in place of an argument that an objective does not have; ``path`` begins below ``args``."""
    name, level = str(path[-1]), generic(path[:-1])
    known = [str(field[-1]) for field, _ in fields_of(ARGUMENTS[objective]) if field[:-1] == level]
    what = "unknown field" if level else "unknown argument"
    near = get_close_matches(name, known, n=1)
    if near:
        return f"{what}; did you mean {near[0]}?"
    if level:
        return f"{what}; there are {', '.join(known)}"
    if name in {field.alias for field in Objective.model_fields.values()}:
        return f"unknown argument; {name} stands beside name, not under args"
    if not known:
        return f"{objective} takes no arguments; leave args out"
    owners = [other for other, of in ARGUMENTS.items() if name in {field.alias for field in of.model_fields.values()}]
    if owners:
        return f"{printable(name, 60)} is an argument of {' and '.join(owners)}; {objective} takes {', '.join(known)}"
    return f"unknown argument; {objective} takes {', '.join(known)}"


def doubled_objectives(policy: Policy) -> Iterator[tuple[Path, str]]:
    """Place and name of every objective that stood in the list before."""
    seen: set[str] = set()
    for number, objective in enumerate(policy.objectives):
        if objective.name in seen:
            yield ("objectives", number, "name"), objective.name
        seen.add(objective.name)
