"""The plugins of each kind that policies may name, and all that reads or describes policies with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from rescheduler.adapters.metrics import PROVIDERS
from rescheduler.daemon.triggers import TRIGGERS
from rescheduler.planning.objectives import OBJECTIVES
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.plugins import Plugins
from rescheduler.policy.reading.loader import loaded, parsed

PLUGINS: Final = Plugins(TRIGGERS, PROVIDERS, OBJECTIVES)


def load_policy(files: Sequence[str | Path], prices: str | None = None) -> Policy:
    """Read policies of which a later one wins field by field; none given: the defaults. Raises PolicyError.

    ``prices``: a file in place of their ``prices.file``.
    """
    return loaded(files, PLUGINS, prices)


def parse_policy(text: str, file: str = "policy") -> Policy:
    """Read one policy from text. Raises PolicyError."""
    return parsed(text, file, PLUGINS)


def policy_sentences(policy: Policy) -> Iterator[str]:
    """One sentence for each thing that an operator decides, defaults included. Raises PluginError."""
    from rescheduler.policy.telling.summary import told

    return told(policy, PLUGINS)


def policy_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a policy file."""
    from rescheduler.policy.telling.schema import schema_with

    return schema_with(PLUGINS)


def policy_reference() -> str:
    """The page about policies in Markdown."""
    from rescheduler.policy.telling.reference import reference_with

    return reference_with(PLUGINS)
