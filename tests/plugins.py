"""Plugins of other packages as tests bring them in, without any package."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from rescheduler.extension_points import plugin_list


def installed(monkeypatch: pytest.MonkeyPatch, group: str, *points: tuple[str, str]) -> None:
    """Make the entry points of a group these, by name and value; other groups have none."""
    found = [EntryPoint(name, value, group) for name, value in points]
    monkeypatch.setattr(plugin_list, "entry_points", lambda: EntryPoints(found))
