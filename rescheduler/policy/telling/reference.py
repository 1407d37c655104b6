"""The policy reference for people, made from the published schema: every field with its form, default and meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from rescheduler.policy.fields.values import UNLIMITED
from rescheduler.policy.plugins import Plugins
from rescheduler.policy.reading.known_fields import ArgumentForm, argument_forms
from rescheduler.policy.telling.schema import schema_with

_INTRODUCTION = """\
# Policy reference

Generated from the models in `rescheduler/policy/`; `python docs/generate.py` writes it anew.

A policy is a YAML file. Unknown fields are refused, with the nearest known name. Several policies may be given: a later
one wins field by field, lists are replaced whole, and an empty value takes a field back to its default. Durations are
written as in Go (`90s`, `5m`, `1h30m`), shares as percentages (`10%`). A file may not be larger than 1 MiB; aliases,
tags and doubled fields are refused. `rescheduler check FILE` reads a policy and says what it would do.

The JSON Schema is `docs/policy.schema.json`. By a first line that names it, an editor knows the fields;
`rescheduler policy init` writes one with the place where the schema is installed:

```yaml
# yaml-language-server: $schema=../docs/policy.schema.json
```

| field | form | default | meaning |
| --- | --- | --- | --- |
"""


_OR_UNLIMITED = {"const": UNLIMITED}


def reference_with(plugins: Plugins) -> str:
    """The page in Markdown, with the arguments of our own plugins."""
    schema = schema_with(plugins)
    arguments = "".join(_arguments(schema, field, form) for field, form in argument_forms(plugins).items())
    return _INTRODUCTION + "".join(_rows(schema, schema, "")) + arguments


def _arguments(schema: Mapping[str, Any], field: str, form: ArgumentForm) -> str:
    """A table of arguments for each objective, or each trigger."""
    text = f"\n## Arguments of the {field}\n"
    for name in form.own:
        arguments = form.model(name)
        level = schema["$defs"][arguments.__name__]
        purpose = " ".join((arguments.__doc__ or "").split())
        text += f"\n### {name}\n\n{purpose}\n"
        if level.get("properties"):
            text += "\n| argument | form | default | meaning |\n| --- | --- | --- | --- |\n"
            text += "".join(_rows(schema, level, ""))
    return text


def _rows(schema: Mapping[str, Any], level: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, field in level["properties"].items():
        here = f"{path}.{name}" if path else name
        resolved = _resolved(schema, field)
        below, suffix = _level_below(schema, resolved)
        default = (
            "required"
            if name in level.get("required", ())
            else _default(field)
            if below is None or isinstance(field.get("default"), str)
            else ""
        )
        meaning = " ".join(field.get("description", resolved.get("description", "")).replace("``", "`").split())
        form = _form(resolved) + (f", or `{UNLIMITED}`" if _OR_UNLIMITED in field.get("anyOf", ()) else "")
        yield f"| `{here}` | {form} | {default} | {meaning} |\n"
        if below is not None:
            yield from _rows(schema, below, here + suffix)


def _resolved(schema: Mapping[str, Any], field: Mapping[str, Any]) -> Mapping[str, Any]:
    """The field with its reference followed, without null, which stands for "left out", and without ``unlimited``."""
    if "$ref" in field:
        target: Mapping[str, Any] = schema["$defs"][field["$ref"].rpartition("/")[2]]
        return _resolved(schema, target)
    choices = [choice for choice in field.get("anyOf", ()) if choice not in ({"type": "null"}, _OR_UNLIMITED)]
    return _resolved(schema, choices[0]) if len(choices) == 1 else field


def _level_below(schema: Mapping[str, Any], field: Mapping[str, Any]) -> tuple[Mapping[str, Any] | None, str]:
    """The fields below this one, and how the path goes on: ``[]`` through a list."""
    if "anyOf" in field:
        return field["anyOf"][0], ""
    if field.get("type") == "array":
        below, _ = _level_below(schema, _resolved(schema, field["items"]))
        return below, "[]"
    return (field, "") if "properties" in field else (None, "")


def _form(field: Mapping[str, Any]) -> str:
    if "enum" in field or "const" in field:
        return ", ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    if "anyOf" in field:
        has_text = any(choice.get("type") == "string" for choice in field["anyOf"])
        return "text, or map" if has_text else "map of labels, or label selector"
    if "oneOf" in field:
        return "number or share"
    if "ns|us" in field.get("pattern", ""):
        return "duration"
    kind = str(field.get("type", "any"))
    if kind == "array":
        return "list"
    return {"object": "map", "string": "text", "integer": _range(field)}.get(kind, kind)


def _range(field: Mapping[str, Any]) -> str:
    low = field.get("minimum")
    return "whole number" if low is None or low < 0 else f"whole number, {low} or more"


def _default(field: Mapping[str, Any]) -> str:
    value = field.get("default")
    return "none" if value is None else f"`{value if isinstance(value, str) else json.dumps(value)}`"
