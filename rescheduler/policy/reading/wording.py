"""Says what is wrong with a field in the user's words: what was found, what was wanted, what to write."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rescheduler.model.printable import printable, shown
from rescheduler.policy.reading.document import Document, Path
from rescheduler.policy.reading.known_fields import advice_on_choice


def text_for(document: Document, path: Path, error: Mapping[str, Any]) -> str | None:
    """The problem behind one validation error; None if another error says it already."""
    kind, found, context = error["type"], error.get("input"), error.get("ctx", {})
    if kind in ("enum", "literal_error"):
        advice = advice_on_choice(path, found, re.findall(r"'([^']*)'", context["expected"]))
        return _in_place_of_boolean(document, path, found, advice.partition("; ")[2]) or advice
    if kind == "default_factory_not_called":
        return None
    if kind == "string_type":
        wanted = "wanted a text: put it in quotes"
        return _in_place_of_boolean(document, path, found, wanted) or f"found {shown(found)}; {wanted}"
    if kind == "missing":
        return f"missing; write {path[-1]}"
    if kind in _WANTED:
        return f"found {shown(found)}; wanted {_WANTED[kind]}"
    if kind in _RANGES:
        return f"found {found}; wanted {_RANGES[kind].format(**context)}"
    if kind == "too_short":
        return None if found else _empty(path)
    if kind == "too_long":
        return _too_long(context)
    if kind == "string_pattern_mismatch":
        return f"found {shown(found)}; {_form(path)}"
    return _own_text(document, path, error)


def _own_text(document: Document, path: Path, error: Mapping[str, Any]) -> str:
    """The problem behind an error that one of our validators raised."""
    if error["type"] == "inline_credential":
        return _inline(path)
    if error["type"] == "included_and_excluded":
        return _twice(document, path, error["ctx"]["name"])
    return str(error["msg"]).removeprefix("Value error, ")


_WANTED = {
    "int_type": "a whole number such as 20",
    "int_from_float": "a whole number such as 20",
    "int_parsing": "a whole number such as 20",
    "int_parsing_size": "a whole number such as 20",
    "finite_number": "a finite number",
    "float_type": "a number, such as 20 or 0.5",
    "bool_type": "true or false, without quotes",
    "bool_parsing": "true or false, without quotes",
    "tuple_type": "a list: [a, b]",
    "dict_type": "a map: {name: value}",
    "model_type": "fields below it: name: value",
    "model_attributes_type": "fields below it: name: value",
    "string_too_long": "a shorter text",
    "string_too_short": "a text that is not empty",
}
_RANGES = {
    "greater_than_equal": "{ge:.12g} or more",
    "less_than_equal": "{le:.12g} or less",
    "less_than": "less than {lt:.12g}",
    "greater_than": "more than {gt:.12g}",
}
_EMPTY: Mapping[Path, str] = {
    ("include",): "selects nothing, so nothing would ever be moved; leave it out to mean all namespaces",
    ("namespaces",): "selects nothing; leave it out to mean all namespaces",
    ("objectives",): "no objective, so nothing would ever be moved; leave it out or write [{name: MakeRoom}]",
    ("triggers",): "no trigger, so a daemon would never do anything; leave it out or write [{name: OnDemand}]",
    ("on",): "no reason; write at least one, such as NotTriggerScaleUp, or leave the field out",
    ("shapes",): 'no shape, so there is nothing to make room for; write at least one, such as {cpu: "16"}',
    ("members",): "no selector; write at least one, such as {matchLabels: {app: web}}",
    ("resources",): 'no resource; write at least one, such as cpu: "16"',
}
_FORMS: Mapping[Path, str] = {
    ("address",): "HOST:PORT, such as 127.0.0.1:2020",
    ("secret",): "NAMESPACE/NAME/KEY of a Secret's entry",
    ("group",): "an API group without a version, such as apps.kruise.io",
    ("kind",): "a kind as in ownerReferences, such as CloneSet",
}
_NAME = "wanted a name of lower-case letters, digits and dashes"


def _empty(path: Path) -> str:
    """What to write in place of nothing; of a list's entries only shapes have no name of their own."""
    name = path[-1:] if isinstance(path[-1], str) else ("resources",)
    return _EMPTY.get(name, "empty; write at least one, or leave the field out")


def _in_place_of_boolean(document: Document, path: Path, found: Any, advice: str) -> str | None:
    """For a text such as ``no`` or ``on``: what YAML makes of it without quotes."""
    written = document.plain_texts.get(path)
    if not isinstance(found, bool) or written is None:
        return None
    return f"YAML reads {printable(written, 60)} as a boolean; {advice}"


def _too_long(context: Mapping[str, Any]) -> str:
    return f"found {context['actual_length']} entries; wanted {context['max_length']} or fewer"


def _form(path: Path) -> str:
    """What a text should look like."""
    if path[-1:] in _FORMS:
        return f"wanted {_FORMS[path[-1:]]}"
    if isinstance(path[-1], str):
        return _NAME
    field = "namespaces" if path[-2:-1] == ("namespaces",) else "include"
    return f"{_NAME}; patterns are not read here: name each namespace, or leave {field} out to mean all"


def _inline(path: Path) -> str:
    """The secret is never repeated: what refuses it may be logged."""
    field = path[-1] if path and isinstance(path[-1], str) else "it"
    return (
        f"the secret itself is refused in a policy; put it into a file and write {field}.file: PATH, "
        f"or {field}.secret: NAMESPACE/NAME/KEY"
    )


def _twice(document: Document, path: Path, name: str) -> str:
    lines = []
    for field in ("include", "exclude"):
        names = _at(document.data, (*path, field))
        lines.append(document.problem((*path, field, names.index(name)), "").line)
    return f"{name} is both included (line {lines[0]}) and excluded (line {lines[1]}); keep one"


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step]
    return data
