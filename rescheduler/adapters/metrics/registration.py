"""Makes providers from a policy's entries: their arguments are checked as strictly as the policy itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.metrics.http.credentials import ReadSecret
from rescheduler.adapters.metrics.http.http_session import Warn, no_warning
from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.usage import Provider
from rescheduler.policy.reading.document import Document, written
from rescheduler.policy.reading.errors import PolicyError, Problem
from rescheduler.policy.reading.known_fields import fields_of, generic
from rescheduler.policy.reading.wording import text_for

_NOWHERE: Final = Document("", {})
"""The entry has left its file: problems name the path alone."""


class ProviderContext(NamedTuple):
    """What providers need of their surroundings."""

    read_secret: ReadSecret | None = None
    """Gives the text behind NAMESPACE/NAME/KEY; None where there is no cluster."""
    connection: Callable[[], Connection] | None = None
    """Opens the connection to the cluster; None where there is none (a recording is looked at, say)."""
    folder: Path = Path()
    """Where relative files stand: the policy's own folder."""
    warn: Warn = no_warning
    """Told, once, of what makes the load easy to forge."""

    def connected(self, provider: str) -> Connection:
        """The connection to the cluster. Raises MetricsError where there is none, ClusterError where it fails."""
        if self.connection is None:
            raise MetricsError(f"{provider} asks the cluster itself, and there is none here; use another provider")
        return self.connection()


class ProviderKind(NamedTuple):
    """One kind of provider: the model of its arguments, and what makes it of them."""

    arguments: type[PolicyModel]
    make: Callable[[Any, ProviderContext], MetricsProvider]


def made_provider(
    kinds: Mapping[str, ProviderKind], entry: Provider, context: ProviderContext, at: int
) -> MetricsProvider:
    """The provider of one entry. Raises PolicyError or MetricsError."""
    kind = kinds.get(entry.name)
    if kind is None:
        text = f"found '{entry.name}'; there are {', '.join(sorted(kinds))}"
        raise PolicyError([Problem("", 0, 0, f"usage.providers[{at}].name", text)])
    return kind.make(checked_arguments(kind.arguments, entry, at), context)


def checked_arguments(model: type[PolicyModel], entry: Provider, at: int) -> PolicyModel:
    """The arguments as their model. Raises PolicyError."""
    try:
        # As the loader does: JSON is the door, where only lists are lists and only texts are texts.
        return model.model_validate_json(json.dumps(entry.args), by_alias=True, by_name=False)
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise PolicyError([_problem(model, at, one) for one in found]) from None


def _problem(model: type[PolicyModel], at: int, error: ErrorDetails) -> Problem:
    inner = tuple(error["loc"])
    path = ("usage", "providers", at, "args", *inner)
    text = _unknown(model, inner) if error["type"] == "extra_forbidden" else text_for(_NOWHERE, path, error)
    return Problem("", 0, 0, written(path), text or "cannot be used")


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
