"""The names a policy may use: for suggestions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from pydantic import BaseModel

from rescheduler.extension_points.plugin_list import PluginError
from rescheduler.model.printable import printable
from rescheduler.policy.fields.daemon.triggers import TriggerEntry
from rescheduler.policy.fields.objectives import ARGUMENTS
from rescheduler.policy.fields.policy import Objective, Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.plugins import Plugins, arguments_model
from rescheduler.policy.reading.document import Path, written
from rescheduler.policy.reading.objective_arguments import objective_arguments_model

# The lists of a policy whose entries have a name and arguments of their own: objectives and triggers.


@dataclass(frozen=True)
class ArgumentForm:
    """One such list. ``entry``: the form of its entries; ``own``: names of ours; ``names``: of all that may stand.

    ``model``: the model of the arguments by the entry's name, whose plugin is loaded for it; raises PluginError.
    ``default``: the name of an entry that has none; None: every entry needs one.
    """

    entry: type[PolicyModel]
    own: tuple[str, ...]
    names: Callable[[], tuple[str, ...]]
    model: Callable[[str], type[PolicyModel]]
    default: str | None


def argument_forms(plugins: Plugins) -> Mapping[str, ArgumentForm]:
    """All of them, by the policy's field."""
    triggers = plugins.triggers
    return {
        "objectives": ArgumentForm(
            Objective,
            tuple(ARGUMENTS),
            plugins.objectives.names,
            lambda name: objective_arguments_model(plugins.objectives, name),
            "MakeRoom",
        ),
        "triggers": ArgumentForm(
            TriggerEntry, tuple(triggers.own), triggers.names, lambda name: arguments_model(triggers, name), None
        ),
    }


_PROVIDER_ARGUMENTS: Path = ("usage", "providers", 0, "args")
_FREE_KEYS: Final = ("headers", "matchers")
_MOVE_BY: Path = ("disruption", "moveBy", 0)


def fields_of(model: type[PolicyModel], path: Path = ()) -> Iterator[tuple[Path, type[PolicyModel] | None]]:
    """Every field below a model by its path in files, with the model that stands there (None: a plain value).

    Items of lists stand at position 0.
    """
    for name, field in model.model_fields.items():
        here = (*path, field.alias or name)
        below, is_list = _model_in(field.annotation)
        yield here, None if is_list else below
        if below is not None:
            yield from fields_of(below, (*here, 0) if is_list else here)


def _annotated(model: type[PolicyModel], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """The same fields with their types."""
    for name, field in model.model_fields.items():
        here = (*path, field.alias or name)
        yield here, field.annotation
        below, is_list = _model_in(field.annotation)
        if below is not None:
            yield from _annotated(below, (*here, 0) if is_list else here)


def _may_be_text(annotation: Any) -> bool:
    """Whether an empty text is one of what may stand there, or a mistake in one; of a number it is nothing at all."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _may_be_text(get_args(annotation)[0])
    if origin is Literal or annotation in (str, Any):
        return True
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return False
    choices = [one for one in get_args(annotation) if one is not type(None)]
    return origin not in (tuple, list, dict) and bool(choices) and all(_may_be_text(one) for one in choices)


def _model_in(annotation: Any) -> tuple[type[PolicyModel] | None, bool]:
    """The policy model inside an annotation, and whether it stands in a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return (annotation, False) if issubclass(annotation, PolicyModel) else (None, False)
    is_sequence = get_origin(annotation) in (tuple, list)
    for argument in get_args(annotation):
        found, is_list = _model_in(argument)
        if found is not None:
            return found, is_sequence or is_list
    return None, False


class KnownFields:
    """Where names may stand in one policy: fields, and arguments of our own plugins and of others that it names."""

    def __init__(self, plugins: Plugins, data: Mapping[str, Any]) -> None:
        """``data``: the policy as read."""
        self.forms = argument_forms(plugins)
        self._data = data

    @cached_property
    def _names(self) -> Mapping[str, tuple[Path, ...]]:
        """Where each name may stand."""
        found: dict[str, list[Path]] = defaultdict(list)
        for path in self._fields:
            found[str(path[-1])].append(path[:-1])
        return {name: tuple(places) for name, places in found.items()}

    @cached_property
    def _fields(self) -> Mapping[Path, bool]:
        """Every field, and whether it may be an empty text."""
        found: dict[Path, bool] = {}
        for path, annotation in (*_annotated(Policy), *self._argument_fields()):
            found[path] = found.get(path, False) or _may_be_text(annotation)
        return found

    def _argument_fields(self) -> Iterator[tuple[Path, Any]]:
        for field, form in self.forms.items():
            named = (name for _, name, _ in named_entries(self._data, field, form) if name in form.names())
            for name in dict.fromkeys((*form.own, *named)):
                with suppress(PluginError):  # told of where the policy names it
                    for path, annotation in _annotated(form.model(name)):
                        yield (field, 0, "args", *path), annotation

    def means_default(self, path: Path, value: Any) -> bool:
        """Whether a value says nothing: none at all, or an empty text where no text may stand.

        An empty text in a rule of ``moveBy`` stays, and is refused: whom would the rule name?
        """
        if value is None:
            return self._has_default(path)
        return value == "" and path[: len(_MOVE_BY)] != _MOVE_BY and not self._fields.get(generic(path), True)

    def _has_default(self, path: Path) -> bool:
        """Whether a field may be set to nothing: a known one, and not a key that the operator chose (a label, say)."""
        level, name = generic(path[:-1]), str(path[-1])
        if level[: len(_PROVIDER_ARGUMENTS)] == _PROVIDER_ARGUMENTS:  # only the providers know theirs
            return level[-1] not in _FREE_KEYS
        return level in self._names.get(name, ())

    def advice_on(self, path: Path) -> str:
        """What to write instead of an unknown field."""
        level, name = generic(path[:-1]), str(path[-1])
        places = self._names
        here = sorted(known for known, above in places.items() if level in above)
        near_here = get_close_matches(name, here, n=1)
        if near_here:
            return f"unknown field; did you mean {near_here[0]}?"
        if name in places:
            return f"unknown field here; it belongs under {_place(_nearest(places[name], level))}"
        near = get_close_matches(name, places, n=1, cutoff=0.75)
        if near:
            return f"unknown field; did you mean {near[0]}, which belongs under {_place(places[near[0]][0])}?"
        choices = f"there are {', '.join(here)}" if here else "nothing more may stand here"
        return f"unknown field; {choices}"


def named_entries(data: Mapping[str, Any], field: str, form: ArgumentForm) -> Iterator[tuple[int, str, Any]]:
    """Place, name and arguments, as read, of every entry of such a list that has a name, or needs none."""
    entries = data.get(field)
    for number, found in enumerate(entries if isinstance(entries, list) else ()):
        entry = found if isinstance(found, dict) else {}
        name = entry.get("name", form.default)
        if isinstance(name, str):
            yield number, name, entry.get("args", {})


def _nearest(places: tuple[Path, ...], level: Path) -> Path:
    """Of places that a field may stand at, the first of those that have most in common with where it stands."""
    return max(places, key=lambda place: sum(1 for one, other in zip(place, level, strict=False) if one == other))


def _place(path: Path) -> str:
    return written(path).replace("[0]", "[]") or "the top of the file"


def generic(path: Path) -> Path:
    """The path with every list position written as 0."""
    return tuple(0 if isinstance(step, int) else step for step in path)


def advice_on_choice(path: Path, found: Any, choices: list[str]) -> str:
    """What to write instead of a value that is none of the choices."""
    if path == ("kind",) and found == "KubeSchedulerConfiguration":
        return "found a scheduler's configuration; name it in a policy, under schedulers: [{file: NAME}]"
    near = get_close_matches(found, choices, n=1) if isinstance(found, str) else []
    hint = f"; did you mean {near[0]}?" if near else ""
    text = repr(printable(found, 60)) if isinstance(found, str) else str(found)
    return f"found {text}; {_there_are(choices)}{hint}"


def _there_are(choices: list[str]) -> str:
    return f"there is only {choices[0]}" if len(choices) == 1 else f"there are {', '.join(choices)}"
