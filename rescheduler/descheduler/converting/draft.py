"""A policy in the making: values by section, the reason above each, and what has no counterpart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any, Final

import yaml

SECTIONS: Final = ("usage", "objectives", "scope", "limits", "disruption")
_WIDTH: Final = 120


class PolicyDraft:
    """Filled setting by setting; ``text`` writes it down."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
        self._why: dict[tuple[str, str], list[str]] = {}
        self._objectives: list[tuple[dict[str, Any], list[str]]] = []
        self._left: list[str] = []

    def put(self, section: str, key: str, value: Any, why: str) -> None:
        """Set a field; a later value takes the place of an earlier one, reasons add up."""
        self._values[section][key] = value
        self._explain(section, key, why)

    def put_least(self, section: str, key: str, value: int, why: str) -> None:
        """Set a field to the least of all that asked for it."""
        before = self._values[section].get(key)
        self.put(section, key, value if before is None else min(before, value), why)

    def put_selector(self, rules: list[dict[str, Any]], why: str) -> None:
        """Narrow the pods of the scope by further rules."""
        before = self._values["scope"].get("labelSelector", {})
        known = [*before.get("matchExpressions", ())]
        more = [rule for rule in rules if rule not in known]
        self.put("scope", "labelSelector", {**before, "matchExpressions": [*known, *more]}, why)

    def leave(self, section: str, key: str, why: str) -> None:
        """A field that stays at its default, and why."""
        self._explain(section, key, why)

    def _explain(self, section: str, key: str, why: str) -> None:
        reasons = self._why.setdefault((section, key), [])
        if why not in reasons:
            reasons.append(why)

    def objective(self, name: str, args: dict[str, Any], why: str) -> None:
        """One more objective; one that is there already is asked for once, the first arguments count."""
        for entry, reasons in self._objectives:
            if entry["name"] == name:
                reasons.append(why if entry.get("args", {}) == args else f"{why} (its arguments are those above)")
                return
        self._objectives.append(({"name": name, **({"args": args} if args else {})}, [why]))

    def nothing(self, path: str, why: str) -> None:
        """A setting without a counterpart."""
        if (told := f"{path}: {why}") not in self._left:
            self._left.append(told)

    @property
    def has_objectives(self) -> bool:
        """Whether anything is to be reached."""
        return bool(self._objectives)

    def text(self, name: str, heading: str) -> str:
        """The whole file."""
        lines = [*_comment(heading), "apiVersion: rescheduler/v1alpha1", "kind: ReschedulerPolicy"]
        lines += [f"metadata: {_flow({'name': name})}", *_comment("it evicts nothing until this says Execute")]
        lines += ["mode: DryRun", ""]
        for section in SECTIONS:
            found = [*(self._objective_lines() if section == "objectives" else self._section_lines(section))]
            lines += [*found, ""] if found else []
        if self._left:
            lines += _comment("Settings that have no counterpart, and why:")
            lines += [line for told in self._left for line in _comment(told, "# - ", "#   ")]
        return "\n".join(lines).rstrip() + "\n"

    def _objective_lines(self) -> Iterator[str]:
        if not self._objectives:
            return
        yield "objectives:"
        for entry, reasons in self._objectives:
            for reason in reasons:
                yield from _comment(reason)
            yield f"- {_flow(entry)}"

    def _section_lines(self, section: str) -> Iterator[str]:
        keys = list(dict.fromkeys(key for place, key in self._why if place == section))
        if not keys:
            return
        values = self._values[section]
        yield f"{section}:" if values else f"# {section}:"
        for key in keys:
            for reason in self._why[section, key]:
                yield from _comment(reason, "  # ", "  # ")
            if key in values:
                yield f"  {key}: {_flow(values[key])}"


def _comment(text: str, lead: str = "# ", further: str = "# ") -> list[str]:
    plain = " ".join(text.split())
    return textwrap.wrap(
        plain, _WIDTH, initial_indent=lead, subsequent_indent=further, break_long_words=True, break_on_hyphens=False
    )


def _flow(value: Any) -> str:
    """A value on one line, as YAML."""
    written: str = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**9, allow_unicode=False)
    return written.removesuffix("\n").removesuffix("\n...")
