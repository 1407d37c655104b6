"""The policy's JSON Schema, made from its models, with defaults as a file would write them."""

from __future__ import annotations

import json
from typing import Any

from rescheduler.policy.fields.daemon.triggers import TriggerEntry
from rescheduler.policy.fields.policy import Objective, Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.usage import Provider
from rescheduler.policy.plugins import Plugins
from rescheduler.policy.reading.known_fields import ArgumentForm, argument_forms


def schema_with(plugins: Plugins) -> dict[str, Any]:
    """JSON Schema (2020-12) of a policy file that names our own plugins."""
    schema = Policy.model_json_schema()
    for entry, known in (
        (Objective, plugins.objectives),
        (TriggerEntry, plugins.triggers),
        (Provider, plugins.providers),
    ):
        properties = schema["$defs"][entry.__name__]["properties"]
        properties["name"] = dict(sorted((properties["name"] | {"enum": list(known.own)}).items()))
    for form in argument_forms(plugins).values():
        for own_name in form.own:
            _add_arguments(schema, form, own_name, form.model(own_name))
    for model in _below(PolicyModel):
        place = schema if model is Policy else schema["$defs"].get(model.__name__)
        if place is not None and "properties" in place:
            _write_defaults(place["properties"], model)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ReschedulerPolicy",
        **_without_titles(schema),
        "required": ["apiVersion", "kind"],
    }


def _add_arguments(schema: dict[str, Any], form: ArgumentForm, name: str, arguments: type[PolicyModel]) -> None:
    """State what ``args`` holds where an objective or trigger has this name."""
    own = arguments.model_json_schema()
    schema["$defs"].update(own.pop("$defs", {}))
    schema["$defs"][arguments.__name__] = own
    is_named: dict[str, Any] = {"properties": {"name": {"const": name}}}
    if name != form.default:
        is_named["required"] = ["name"]
    then: dict[str, Any] = {"properties": {"args": {"$ref": f"#/$defs/{arguments.__name__}"}}}
    if own.get("required"):
        then["required"] = ["args"]
    schema["$defs"][form.entry.__name__].setdefault("allOf", []).append({"if": is_named, "then": then})


def default_of(model: type[PolicyModel], field: str) -> Any:
    """A field's default as plain data in the form that files use; None where there is none."""
    information = model.model_fields[field]
    if information.is_required():
        return None
    extra = information.json_schema_extra
    if isinstance(extra, dict):
        return extra["default"]
    return json.loads(model.model_construct().model_dump_json(by_alias=True, include={field}, warnings=False))[
        information.alias or field
    ]


def _write_defaults(properties: dict[str, Any], model: type[PolicyModel]) -> None:
    for name, field in model.model_fields.items():
        if not field.is_required():
            properties[field.alias or name]["default"] = default_of(model, name)


def _below(model: type[PolicyModel]) -> list[type[PolicyModel]]:
    return [found for child in model.__subclasses__() for found in (child, *_below(child))]


def _without_titles(schema: Any) -> Any:
    """Titles that only repeat a field's name are left out."""
    if isinstance(schema, dict):
        return {
            key: _without_titles(value)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    return [_without_titles(item) for item in schema] if isinstance(schema, list) else schema
