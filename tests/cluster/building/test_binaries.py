"""Where the binaries of the test cluster come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.building.binaries import ASSETS_VARIABLE, NAMES, locate
from tests.cluster.building.go_toolchain import BuildError
from tests.cluster.building.modules import DESCHEDULER, ETCD, KWOK, Module, kubernetes
from tests.cluster.building.versions import PATCHES, VERSION_VARIABLE, wanted_kubernetes


def test_a_ready_made_folder_must_hold_every_binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without kwok is refused by name, and nothing is built in its place."""
    monkeypatch.setenv(ASSETS_VARIABLE, str(tmp_path))
    for name in NAMES[:-1]:
        (tmp_path / name).touch(mode=0o755)
    with pytest.raises(BuildError, match="no executable kwok; wanted etcd"):
        locate()


def test_a_version_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Kubernetes version that cannot be one is named with its variable, before anything is fetched."""
    monkeypatch.setenv(VERSION_VARIABLE, "latest")
    with pytest.raises(BuildError, match=f"{VERSION_VARIABLE}=latest: wanted"):
        wanted_kubernetes(Path("go"))


@pytest.mark.parametrize("asked", ["", "1.36", "1.36.3", "v1.36.3"])
def test_the_committed_version_needs_nothing_else(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its whole name, or by its minor version."""
    monkeypatch.setenv(VERSION_VARIABLE, asked)
    assert wanted_kubernetes(Path("go")) == kubernetes()


def test_a_minor_version_stands_for_one_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The one whose sources are in the cache is taken without asking anybody."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv(VERSION_VARIABLE, "1.34")
    folder = tmp_path / "rescheduler" / "control-plane" / f"kubernetes-{PATCHES['1.34']}-module"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text(f"module x\n\nrequire k8s.io/kubernetes v{PATCHES['1.34']}\n")
    assert wanted_kubernetes(Path("go")).version == f"v{PATCHES['1.34']}"


@pytest.mark.parametrize("module", [ETCD, KWOK, DESCHEDULER, kubernetes()], ids=lambda module: module.name)
def test_a_build_is_known_by_all_that_shapes_it(module: Module) -> None:
    """Another Go version gives another cache folder; the same one gives the same."""
    assert module.version.startswith("v")
    assert module.fingerprint("1.26.0") == module.fingerprint("1.26.0") != module.fingerprint("1.26.1")
