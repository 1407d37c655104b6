"""The plugins that a policy may name: readers of policies are told of them, and know none by themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BeforeValidator, ValidationInfo
from pydantic_core import PydanticKnownError

from rescheduler.extension_points import MetricsProvider, Trigger
from rescheduler.extension_points.plugin_list import PluginError, PluginList
from rescheduler.model.printable import shortened
from rescheduler.policy.fields.policy_model import PolicyModel

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Plugins:
    """All plugins that policies name, as one value, which pydantic hands to the fields of a policy as its context."""

    triggers: PluginList[Trigger]
    providers: PluginList[MetricsProvider]
    objectives: PluginList[Any]


def known_in(kind: str) -> BeforeValidator:
    """A check that a name is one of the plugins of a kind; without a context, in a policy made by code, any will do."""

    def checked(found: Any, info: ValidationInfo) -> Any:
        plugins: PluginList[Any] | None = None if info.context is None else getattr(info.context, kind)
        if plugins is None or (isinstance(found, str) and (found in plugins.own or found in plugins.names())):
            return found
        raise PydanticKnownError("literal_error", {"expected": ", ".join(map(repr, plugins.names()))})

    return BeforeValidator(checked)


def arguments_model(plugins: PluginList[Any], name: str) -> type[PolicyModel]:
    """What a plugin takes as arguments. Raises PluginError."""
    model = plugins.get(name).arguments
    if not (isinstance(model, type) and issubclass(model, PolicyModel)):
        raise PluginError(f'{plugins.kind} "{name}": arguments is {shortened(repr(model))}; wanted a PolicyModel')
    return model


def arguments_in(plugins: PluginList[Any], name: str, args: dict[str, Any]) -> PolicyModel:
    """A plugin's arguments as its own model.

    Raises PluginError, and ValidationError where the arguments were not checked before.
    """
    return arguments_model(plugins, name).model_validate_json(json.dumps(args), by_alias=True, by_name=False)


def asked(plugins: PluginList[Any], name: str, what: str, question: Callable[[], Answer]) -> Answer:
    """What a plugin's code answers. Raises PluginError in place of whatever that code raises."""
    try:
        return question()
    except Exception as error:
        told = shortened(f"{type(error).__name__}: {error}")
        raise PluginError(f'{plugins.kind} "{name}": {what} raised {told}') from error
