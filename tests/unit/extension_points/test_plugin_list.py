"""Plugins by name: ours, and those of other packages; what cannot be used is named and never used."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from rescheduler.extension_points.plugin_list import PluginError, PluginList
from tests.plugins import installed

SCORES: PluginList[Any] = PluginList(
    "rescheduler.scores", {"Ours": "collections:OrderedDict", "Broken": "collections:namedtuple"}, ("popitem",)
)


class Misnamed(dict[str, int]):
    """A plugin whose entry point has another name than itself."""

    name = "Y"
    popitem = dict.popitem


def test_own_plugins_come_first_and_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader finds ours as their face lists them, then those of others by name."""
    installed(monkeypatch, SCORES.group, ("Zebra", "collections:OrderedDict"), ("Ant", "collections:OrderedDict"))
    assert SCORES.names() == ("Ours", "Broken", "Ant", "Zebra")
    assert SCORES.get("Ours").__name__ == SCORES.get("Ant").__name__ == "OrderedDict"


def test_nothing_is_loaded_before_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Listing names loads no code of others, so that a broken package harms only who names it."""
    installed(monkeypatch, SCORES.group, ("Bad", "no_such_module:Nothing"))
    assert "Bad" in SCORES.names()
    with pytest.raises(PluginError, match=r'score "Bad" of package no_such_module:Nothing cannot be loaded: ModuleNot'):
        SCORES.get("Bad")


@pytest.mark.parametrize(
    ("points", "name", "message"),
    [
        ((), "Our", 'no score "Our"; there are Ours, Broken; did you mean Ours?'),
        ((("Ours", "a:B"),), "Ours", 'score "Ours" of package a:B takes a taken name; rename it there'),
        ((("X", "a:B"), ("X", "c:D")), "X", 'score "X" is brought by package a:B and package c:D; install only one'),
        ((("X", "collections:namedtuple"),), "X", "wanted a class"),
        ((("X", "collections:deque"),), "X", 'score "X" of package collections:deque: deque has no popitem'),
        ((("X", "collections:Missing"),), "X", "cannot be loaded: AttributeError"),
        ((("X", f"{__name__}:Misnamed"),), "X", "Misnamed is named 'Y'; wanted \"X\""),
    ],
)
def test_what_cannot_be_used_is_named(
    points: tuple[tuple[str, str], ...], name: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says which plugin, of which package, and what is wrong with it."""
    installed(monkeypatch, SCORES.group, *points)
    with pytest.raises(PluginError) as caught:
        SCORES.get(name)
    assert message in str(caught.value)


def test_a_plugin_that_cannot_even_be_imported_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever code of others raises while it is loaded becomes one sentence."""

    def raising(_: EntryPoint) -> None:
        raise RuntimeError("no licence\x1b[2J")

    installed(monkeypatch, SCORES.group, ("X", "collections:deque"))
    monkeypatch.setattr(EntryPoint, "load", raising)
    with pytest.raises(PluginError, match=r"cannot be loaded: RuntimeError: no licence\\x1b"):
        SCORES.get("X")
