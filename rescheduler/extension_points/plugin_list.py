"""Plugins of one extension point by name: ours, listed in the face of their folder, and those of other packages."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, Generic, TypeVar, cast

from rescheduler.extension_points import ReschedulerError
from rescheduler.model.printable import shortened

Plugin = TypeVar("Plugin")


class PluginError(ReschedulerError):
    """A plugin that cannot be used: it is named, with its package, and with what is wrong."""


@dataclass(frozen=True)
class PluginList(Generic[Plugin]):
    """All plugins of one extension point; none of their code is loaded before somebody asks for it.

    ``group``: the entry points by which installed packages bring theirs, such as ``rescheduler.scores``. ``own``: where
    the class of each of ours stands, as ``module:Class``, in the order in which people read them. ``wanted``: what a
    class must have, by name, beside being a class.
    """

    group: str
    own: Mapping[str, str]
    wanted: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """What one of them is called: ``score``, ``metrics provider``."""
        return self.group.rpartition(".")[2].removesuffix("s").replace("_", " ")

    def names(self) -> tuple[str, ...]:
        """Ours in their order, then those of other packages by name."""
        return (*self.own, *sorted(set(self.foreign()) - set(self.own)))

    def foreign(self) -> Mapping[str, tuple[EntryPoint, ...]]:
        """Entry points of other packages by the plugin's name; more than one where packages contend for it."""
        found: dict[str, tuple[EntryPoint, ...]] = {}
        for point in _installed(entry_points, tuple(sys.path)).select(group=self.group):
            found[point.name] = (*found.get(point.name, ()), point)
        return found

    def get(self, name: str) -> type[Plugin]:
        """The class of that name. Raises PluginError where there is none, several contend for it, or it is unusable."""
        foreign = self.foreign().get(name, ())
        if name in self.own and foreign:
            raise PluginError(f"{self._called(name)} of {_packages(foreign)} takes a taken name; rename it there")
        if len(foreign) > 1:
            raise PluginError(f"{self._called(name)} is brought by {_packages(foreign)}; install only one of them")
        if name not in self.own and not foreign:
            raise PluginError(self._unknown(name))
        return self._checked(name, self._own(name) if name in self.own else self._loaded(name, foreign[0]), foreign)

    def _own(self, name: str) -> Any:
        module, _, attribute = self.own[name].partition(":")
        return getattr(import_module(module), attribute)

    def _loaded(self, name: str, point: EntryPoint) -> Any:
        try:
            return point.load()
        except Exception as error:  # whatever code of others raises
            told = shortened(f"{type(error).__name__}: {error}")
            raise PluginError(f"{self._called(name)} of {_packages([point])} cannot be loaded: {told}") from error

    def _checked(self, name: str, found: Any, foreign: tuple[EntryPoint, ...]) -> type[Plugin]:
        whose = f"{self._called(name)} of {_packages(foreign)}" if foreign else self._called(name)
        if not isinstance(found, type):
            raise PluginError(f"{whose} is {shortened(repr(found))}; wanted a class")
        lacking = [wanted for wanted in self.wanted if not hasattr(found, wanted)]
        if lacking:
            raise PluginError(f"{whose}: {found.__qualname__} has no {', no '.join(lacking)}")
        if foreign and (own_name := getattr(found, "name", name)) != name:
            raise PluginError(f'{whose}: {found.__qualname__} is named {shortened(repr(own_name))}; wanted "{name}"')
        return cast("type[Plugin]", found)

    def _unknown(self, name: str) -> str:
        names = self.names()
        near = get_close_matches(name, names, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"no {self._called(name)}; there are {', '.join(names)}{hint}"

    def _called(self, name: str) -> str:
        return f'{self.kind} "{shortened(name)}"'


@lru_cache(maxsize=1)
def _installed(read: Callable[[], EntryPoints], path: tuple[str, ...]) -> EntryPoints:  # noqa: ARG001 - path is the key
    """Entry points of all packages that are found along a path, which takes a while to look through."""
    return read()


def _packages(points: tuple[EntryPoint, ...] | list[EntryPoint]) -> str:
    return " and ".join(f"package {point.dist.name if point.dist else point.value}" for point in points)
