"""Makes providers from a policy's entries: their arguments are checked as strictly as the policy itself."""

from __future__ import annotations

import json
from difflib import get_close_matches
from typing import Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rescheduler.adapters.metrics import PROVIDERS
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.extension_points import MetricsError, MetricsProvider, ReschedulerError
from rescheduler.extension_points.plugin_list import PluginError
from rescheduler.model.printable import shortened
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.usage import Provider
from rescheduler.policy.plugins import arguments_model
from rescheduler.policy.reading.document import Document, written
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.policy.reading.known_fields import fields_of, generic
from rescheduler.policy.reading.wording import text_for

_NOWHERE: Final = Document("", {})
"""The entry has left its file: problems name the path alone."""


def check_provider(entry: Provider, at: int) -> None:
    """Raise PolicyError for a provider that there is not, or with every argument that is wrong."""
    _arguments(entry, at)


def provider_of(entry: Provider, context: ProviderContext, *, at: int = 0) -> MetricsProvider:
    """The provider that an entry of ``usage.providers`` asks for; sends nothing yet.

    ``at``: the entry's place in the list. Raises PolicyError with every argument that is wrong, and MetricsError where
    the provider needs a cluster and there is none.
    """
    arguments, kind = _arguments(entry, at), PROVIDERS.get(entry.name)
    try:
        return kind.made(arguments, context)
    except (ReschedulerError, PolicyError):
        raise
    except Exception as error:  # whatever code of others raises
        told = shortened(f"{type(error).__name__}: {error}")
        raise MetricsError(f"{entry.name} cannot be made: {told}") from error


def _arguments(entry: Provider, at: int) -> PolicyModel:
    try:
        model = arguments_model(PROVIDERS, entry.name)
    except PluginError as error:
        raise PolicyError([ReadingProblem("", 0, 0, f"usage.providers[{at}].name", str(error))]) from None
    return checked_arguments(model, entry, at)


def checked_arguments(model: type[PolicyModel], entry: Provider, at: int) -> PolicyModel:
    """The arguments as their model. Raises PolicyError."""
    try:
        # As the loader does: JSON is the door, where only lists are lists and only texts are texts.
        return model.model_validate_json(json.dumps(entry.args), by_alias=True, by_name=False)
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise PolicyError([_problem(model, at, one) for one in found]) from None


def _problem(model: type[PolicyModel], at: int, error: ErrorDetails) -> ReadingProblem:
    inner = tuple(error["loc"])
    path = ("usage", "providers", at, "args", *inner)
    text = _unknown(model, inner) if error["type"] == "extra_forbidden" else text_for(_NOWHERE, path, error)
    return ReadingProblem("", 0, 0, written(path), text or "cannot be used")


def _unknown(model: type[PolicyModel], path: tuple[int | str, ...]) -> str:
    """What to write instead of an unknown argument."""
    name, above = str(path[-1]), path[:-1]
    fields = {found[-1]: found[:-1] for found, _ in fields_of(model)}
    here = sorted(str(found[-1]) for found, _ in fields_of(model) if found[:-1] == generic(above))
    near = get_close_matches(name, here, n=1)
    if near:
        return f"unknown argument; did you mean {near[0]}?"
    if name in fields:
        return f"unknown argument here; it belongs under {written(('args', *fields[name]))}"
    return f"unknown argument; there are {', '.join(here)}" if here else "unknown argument; there are none"
