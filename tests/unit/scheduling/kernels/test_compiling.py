"""Compiled kernels are kept between processes, never used for what they were not made of, and may be kept nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("numba")

from rescheduler.scheduling.kernels.compiling import kept_in

KERNEL = """
from rescheduler.scheduling.kernels.compiling import compiled
from pathlib import Path
ADDED = int((Path(__file__).parent / "added.py").read_text())
@compiled
def kernel(number):
    return number + ADDED
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Loads a folder of one kernel, which adds what stands in the file beside it, as a new process does."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "kernel.py").write_text(KERNEL)

    def loaded(added: str) -> ModuleType:
        (folder / "added.py").write_text(added)
        kept_in.cache_clear()
        spec = spec_from_file_location("kernel", folder / "kernel.py")
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield loaded
    kept_in.cache_clear()


def hits(module: ModuleType) -> int:
    """How often a kernel was read from disk."""
    return sum(module.kernel.stats.cache_hits.values())


def test_the_next_process_reads_what_one_compiled(load: Callable[[str], ModuleType], tmp_path: Path) -> None:
    """Beside the modules, where Python keeps its own."""
    first, second = load("1"), load("1")
    assert (first.kernel(1), hits(first)) == (2, 0)
    assert (second.kernel(1), hits(second)) == (2, 1)
    assert list((tmp_path / "kernels" / "__pycache__").glob("kernels-*/*/*.nbc"))


def test_what_changed_in_a_file_beside_it_is_compiled_anew(load: Callable[[str], ModuleType]) -> None:
    """The kernel's own file is the same, and its constants and inlined calls are not."""
    assert load("1").kernel(1) == 2
    second = load("7")
    assert (second.kernel(1), hits(second)) == (8, 0)


def test_a_folder_that_may_not_be_written_to_leaves_the_user_s_cache(
    load: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    """As for a package that root installed."""
    (tmp_path / "kernels" / "__pycache__").touch()  # no folder can be made here, not even by root
    first, second = load("1"), load("1")
    assert [module.kernel(1) for module in (first, second)] == [2, 2]
    assert hits(second) == 1
    assert list((tmp_path / "user" / "rescheduler").glob("kernels-*/*/*.nbc"))


def test_where_nothing_may_be_written_kernels_are_compiled_in_memory(
    load: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    """As in a container whose file system is read-only."""
    for name in ("kernels/__pycache__", "user"):
        (tmp_path / name).touch()
    assert load("1").kernel(1) == 2
    assert kept_in(tmp_path / "kernels") is None


def test_the_place_that_numba_is_told_of_comes_first(
    load: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NUMBA_CACHE_DIR, and none other."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "told"))
    assert load("1").kernel(1) == 2
    assert [found.parent for found in (tmp_path / "told").iterdir()] == [tmp_path / "told"]
    assert not list((tmp_path / "kernels").glob("__pycache__/kernels-*"))
