"""The arguments of all providers as a page for people, made from their models."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from rescheduler.adapters.metrics import PROVIDERS
from rescheduler.policy.fields.metrics_access import HttpAccess
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.plugins import arguments_model
from rescheduler.policy.reading.document import Path
from rescheduler.policy.reading.known_fields import fields_of
from rescheduler.policy.telling.schema import default_of

_INTRODUCTION = """\
# Arguments of metrics providers

Generated from the models in `rescheduler/adapters/metrics/`; `python docs/generate.py` writes it anew.

What `args` of an entry of `usage.providers` may hold; docs/load-watcher.md tells the rest. Relative files are relative
to the policy's own folder. Secrets are named, never written into a policy.
"""
_HEAD = "\n| argument | default | meaning |\n| --- | --- | --- |\n"
_OVER_HTTP = "\n## All providers over HTTP\n\nThat is, all but MetricsServer, CustomMetrics and Recorded.\n"


def providers_reference() -> str:
    """The page in Markdown."""
    return _INTRODUCTION + _OVER_HTTP + _HEAD + "".join(_rows(HttpAccess)) + "".join(map(_section, PROVIDERS.own))


def _section(name: str) -> str:
    model = arguments_model(PROVIDERS, name)
    shared = [path for path, _ in fields_of(HttpAccess)] if issubclass(model, HttpAccess) else []
    more = "\n\nAnd those of all providers over HTTP." if shared else ""
    return f"\n## {name}\n\n{_line(model.__doc__)}{more}\n{_HEAD}{''.join(_rows(model, shared))}"


def _rows(model: type[PolicyModel], left_out: Collection[Path] = ()) -> Iterator[str]:
    levels = {(): model, **{path: below for path, below in fields_of(model) if below is not None}}
    for path, below in fields_of(model):
        if path in left_out:
            continue
        level = levels[path[:-1]]
        name, field = next((name, field) for name, field in level.model_fields.items() if field.alias == path[-1])
        default = "" if below is not None else _default(level, name)
        yield f"| `{'.'.join(map(str, path))}` | {default} | {_line(field.description)} |\n"


def _default(model: type[PolicyModel], name: str) -> str:
    if model.model_fields[name].is_required():
        return "required"
    value = default_of(model, name)
    if value in (None, "", {}, []):
        return "none"
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{text}`".replace("|", "\\|")


def _line(text: str | None) -> str:
    return " ".join((text or "").replace("``", "`").split()).replace("|", "\\|")
