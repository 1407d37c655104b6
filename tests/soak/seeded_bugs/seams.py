"""Ways to put a bug into the code under test; each fails loudly where that code is not what it was."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from rescheduler.disruption import eligibility
from rescheduler.disruption.rules.rule import Rule, Stage

Sow: TypeAlias = "Callable[[], Any]"
"""Makes a context manager; while it lasts, the bug is there."""


class SeamGoneError(Exception):
    """What was to be changed does not exist (any more): the bug has to be written anew."""


class SeededBug(NamedTuple):
    """``invariants``: any of these finds it. ``policy``: fields below ``disruption``, ``health``: below ``health``,
    ``top``: at the top; ``settings``: of the run, besides those of ``stage.py``.
    """

    name: str
    description: str
    invariants: tuple[str, ...]
    sow: Sow
    policy: str = ""
    health: str = ""
    top: str = ""
    settings: Mapping[str, Any] = MappingProxyType({})


def always(value: Any) -> Callable[[Any], Any]:
    """Whatever is asked, the answer is this."""
    return lambda _: lambda *_given, **_named: value


def becomes(value: Any) -> Callable[[Any], Any]:
    """This stands in its place."""
    return lambda _: value


def changed(owner: Any, name: str, make: Callable[[Any], Any]) -> Sow:
    """One function, constant or property of a module or class becomes what ``make`` makes of it."""

    @contextmanager
    def sow() -> Iterator[None]:
        if name not in vars(owner):
            raise SeamGoneError(f"{getattr(owner, '__name__', owner)} has no {name}")
        original = vars(owner)[name]
        setattr(owner, name, make(original))
        try:
            yield
        finally:
            setattr(owner, name, original)

    return sow


def changed_everywhere(module: ModuleType, name: str, make: Callable[[Any], Any]) -> Sow:
    """A function that others import by its name."""

    @contextmanager
    def sow() -> Iterator[None]:
        if name not in vars(module):
            raise SeamGoneError(f"{module.__name__} has no {name}")
        original = vars(module)[name]
        owners = [found for key, found in sorted(sys.modules.items()) if key.startswith("rescheduler")]
        with ExitStack() as stack:
            made = make(original)
            for owner in owners:
                if vars(owner).get(name) is original:
                    stack.enter_context(changed(owner, name, lambda _: made)())
            yield

    return sow


def together(*sows: Sow) -> Sow:
    """Several changes that make one bug."""

    @contextmanager
    def sow() -> Iterator[None]:
        with ExitStack() as stack:
            for one in sows:
                stack.enter_context(one())
            yield

    return sow


def without_rules(*names: str) -> Sow:
    """Rules of eligibility are forgotten."""

    def make(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
        known = {rule.name for stage in stages for rule in stage.rules}
        if not known.issuperset(names):
            raise SeamGoneError(f"there are no rules {sorted(set(names) - known)}")
        return tuple(Stage(stage.per, tuple(rule for rule in stage.rules if _is_kept(rule, names))) for stage in stages)

    return changed(eligibility, "MOVING", make)


def _is_kept(rule: Rule, names: tuple[str, ...]) -> bool:
    return rule.name not in names
