"""Parts of the composition are loaded when they are asked for, so that a watcher is back quickly after a crash."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from rescheduler import composition


def test_a_watcher_loads_no_planner() -> None:
    """Solver and numerics of the planner take longer to load than everything that a watcher needs."""
    code = (
        "import sys; from rescheduler.composition import UsageWatch, token_reader;"
        "found = {'ortools', 'scipy', 'pandas', 'rescheduler.planning'} & set(sys.modules); assert not found, found"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_name_that_the_type_checker_sees_is_there() -> None:
    """The two lists in the package say the same."""
    assert composition.__file__ is not None
    tree = ast.parse(Path(composition.__file__).read_text(encoding="utf-8"))
    named = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith(composition.__name__)
        for alias in node.names
    }
    assert named == {name: f"{composition.__name__}.{module}" for name, module in composition._MODULE_OF.items()}
    for name in named:
        assert getattr(composition, name).__name__ == name


def test_a_name_that_is_not_there_is_refused() -> None:
    """As by any module."""
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = composition.nothing
