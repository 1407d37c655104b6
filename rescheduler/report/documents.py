"""Plans, results and other structs as JSON or YAML for scripts: stable order of fields, nothing but ASCII."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import yaml

from rescheduler.model.plan.foretold_plan import ForetoldPlan, ForetoldResult
from rescheduler.model.plan.plan import API_VERSION, Landing, Plan, PlanResult

# JSON Schema of what scripts read: a Plan, and the PlanResult of carrying one out.

_ALWAYS_WRITTEN = ("apiVersion", "kind", "snapshot", "objectives", "moves", "placements", "refusals", "warnings")


def plan_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) that every plan and every result satisfies."""
    references, components = msgspec.json.schema_components(
        (Plan, PlanResult, ForetoldPlan, ForetoldResult), ref_template="#/$defs/{name}"
    )
    for name, kind in (
        ("Plan", "Plan"),
        ("PlanResult", "PlanResult"),
        ("ForetoldPlan", "Plan"),
        ("ForetoldResult", "PlanResult"),
    ):
        definition = components[name]
        definition["properties"]["apiVersion"] = {"const": API_VERSION}
        definition["properties"]["kind"] = {"const": kind}
        definition["required"] = [field for field in _ALWAYS_WRITTEN if field in definition["properties"]]
    for name in ("Move", "MoveOutcome"):
        components[name]["properties"]["toNode"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Plan and PlanResult of rescheduler",
        "anyOf": list(references),
        "$defs": _without_titles(components),
    }


def _without_titles(schema: Any) -> Any:
    """Titles only repeat the names of the definitions."""
    if isinstance(schema, dict):
        return {key: _without_titles(value) for key, value in schema.items() if key != "title"}
    return [_without_titles(item) for item in schema] if isinstance(schema, list) else schema


_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_OUTSIDE_ASCII = re.compile("[\x7f-\U0010ffff]")


def to_data(document: msgspec.Struct | dict[str, Any]) -> dict[str, Any]:
    """Plain data with ``apiVersion`` and ``kind`` first, then the fields in the struct's order."""
    data = document if isinstance(document, dict) else _written(document)
    first: dict[str, Any] = {key: data[key] for key in ("apiVersion", "kind") if key in data}
    return {**first, **data}


def _written(document: msgspec.Struct) -> dict[str, Any]:
    """A pod that nobody makes again goes nowhere."""
    data: dict[str, Any] = msgspec.to_builtins(document)
    for move in data["moves"] if isinstance(document, Plan | PlanResult) else ():
        if move.get("landing") == Landing.NO_REPLACEMENT:
            move["toNode"] = None
    return data


def to_line(document: msgspec.Struct) -> str:
    """As ``to_json``, on one line."""
    return msgspec.json.encode(to_data(document)).decode() + "\n"


def to_json(document: msgspec.Struct | dict[str, Any]) -> str:
    """Indented JSON with a line break at its end; equal documents give equal bytes.

    Characters outside ASCII are escaped, so that no name of a cluster can play with a terminal.
    """
    text = msgspec.json.format(msgspec.json.encode(to_data(document)), indent=2).decode()
    return (_OUTSIDE_ASCII.sub(_escaped, text) if _OUTSIDE_ASCII.search(text) else text) + "\n"


def to_yaml(document: msgspec.Struct | dict[str, Any]) -> str:
    """YAML with the same data and order as the JSON."""
    text: str = yaml.dump(to_data(document), Dumper=_DUMPER, sort_keys=False, allow_unicode=False, width=120)
    return text


def _escaped(match: re.Match[str]) -> str:
    """JSON's escape of one character; two of them for a character beyond 16 bits."""
    units = match.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[start]:02x}{units[start + 1]:02x}" for start in range(0, len(units), 2))
