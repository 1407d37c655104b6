"""The shell and the desk of the command line's tests."""

from __future__ import annotations

from tests.unit.cli.conftest import desk, shell

__all__ = ["desk", "shell"]
