"""The release's bill of materials: every package of the lock, each with its licence, and nothing besides."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest

from tests.paths import DEPLOY, ROOT
from tests.unit.deploy.test_distribution import build

SCRIPT = DEPLOY / "bill_of_materials.py"


def script() -> dict[str, Any]:
    """What the script defines."""
    found: dict[str, Any] = {"__file__": str(SCRIPT), "__name__": "bill_of_materials"}
    exec(compile(SCRIPT.read_text(), SCRIPT, "exec"), found)
    return found


OURS = script()
LOCK: dict[str, str] = OURS["locked"]((ROOT / "requirements-run.lock").read_text())


def described(package: Distribution, site: Path) -> None:
    """Put what is said of an installed package where another environment finds it; its modules do not matter here."""
    for file in package.files or ():
        if file.parts[0].endswith(".dist-info"):
            target = site.joinpath(*file.parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(str(package.locate_file(file))), target)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain installation as far as a bill can see: the lock's packages and our own wheel, without the network."""
    for tool in ("cyclonedx_py", "hatchling"):
        pytest.importorskip(tool, reason=f"{tool} comes with the dependency group release")
    folder = tmp_path_factory.mktemp("bill")
    venv.create(folder / "installed", with_pip=False)
    [site] = (folder / "installed" / "lib").glob("*/site-packages")
    for name in LOCK:
        described(distribution(name), site)
    build(ROOT, folder, "-t", "wheel")
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site, [name for name in archive.namelist() if ".dist-info/" in name])
    return folder / "installed"


@pytest.fixture
def installed(plain: Path, tmp_path: Path) -> Path:
    """One to spoil."""
    return Path(shutil.copytree(plain, tmp_path / "installed", symlinks=True))


def run(installation: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """As ``make release`` does."""
    command = [sys.executable, str(SCRIPT), str(installation), "-o", str(target)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def site_of(installation: Path) -> Path:
    """Where its packages are."""
    [site] = (installation / "lib").glob("*/site-packages")
    return site


def info_of(installation: Path, name: str) -> Path:
    """The folder that says what a package is."""
    [found] = site_of(installation).glob(f"{name}-*.dist-info")
    return found


def test_the_bill_names_every_package_of_the_lock_with_its_licence(plain: Path, tmp_path: Path) -> None:
    """And none besides, the tools that make it and what this process may import least of all."""
    done = run(plain, tmp_path / "bill.json")
    assert (done.returncode, [line for line in done.stderr.splitlines() if "bill.json:" in line]) == (0, [])
    bill = json.loads((tmp_path / "bill.json").read_text())
    assert bill["bomFormat"] == "CycloneDX"
    assert {OURS["normal"](item["name"]): item["version"] for item in bill["components"]} == LOCK
    assert len(LOCK) > 40
    assert all(item["licenses"] and item["purl"].startswith("pkg:pypi/") for item in bill["components"])
    ours = bill["metadata"]["component"]
    assert (ours["name"], ours["licenses"][0]["license"]["id"]) == ("kube-rescheduler", "Apache-2.0")


def test_a_release_without_a_dependency_of_the_lock_fails(installed: Path, tmp_path: Path) -> None:
    """Named with its version; so is that the project asks for it."""
    shutil.rmtree(info_of(installed, "ortools"))
    done = run(installed, tmp_path / "bill.json")
    assert done.returncode == 1
    assert f"ortools {LOCK['ortools']} is in requirements-run.lock and not in the bill" in done.stderr
    assert "ortools is a dependency in pyproject.toml and not one of the project in the bill" in done.stderr


def test_a_release_with_a_package_whose_licence_nobody_tells_fails(installed: Path, tmp_path: Path) -> None:
    """Whatever way it was told in: field, expression, classifier or the text beside it."""
    place = info_of(installed, "protobuf")
    text = (place / "METADATA").read_text()
    assert re.search(r"^License: ", text, re.MULTILINE)
    (place / "METADATA").write_text(re.sub(r"(?m)^(License.*|Classifier: License.*)\n", "", text))
    done = run(installed, tmp_path / "bill.json")
    assert done.returncode == 1
    assert f"protobuf {LOCK['protobuf']}: no licence is told" in done.stderr


def test_a_release_with_what_is_not_locked_fails(installed: Path, tmp_path: Path) -> None:
    """A package too many, and one of another version."""
    described(distribution("pytest"), site_of(installed))
    place = info_of(installed, "rich")
    (place / "METADATA").write_text(re.sub(r"(?m)^Version: .*$", "Version: 0.0.1", (place / "METADATA").read_text()))
    done = run(installed, tmp_path / "bill.json")
    assert done.returncode == 1
    assert re.search(r": pytest \S+ is in the bill and not in requirements-run\.lock$", done.stderr, re.MULTILINE)
    assert f"rich is 0.0.1 in the bill and {LOCK['rich']} in requirements-run.lock" in done.stderr


def test_no_words_are_no_licence() -> None:
    """The placeholder that stands for a package's own words does not count without them."""
    root = {"bom-ref": "root", "name": "ours", "version": "1", "licenses": [{"expression": "MIT OR Apache-2.0"}]}
    own = {"license": {"name": "declared license of 'a'", "text": {"content": " "}}}
    part = {"bom-ref": "a==1", "name": "a", "version": "1", "licenses": [own]}
    bill = {"metadata": {"component": root}, "components": [part], "dependencies": [{"ref": "root"}]}
    assert list(OURS["faults"](bill, {"a": "1"}, set())) == ["a 1: no licence is told"]


def test_the_release_is_made_with_it() -> None:
    """Of the installation that holds the lock's packages alone."""
    [recipe] = re.findall(r"^release: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert "pip install --quiet --disable-pip-version-check --require-hashes -r requirements-run.lock" in recipe
    assert "deploy/bill_of_materials.py $(RELEASE)/installed -o $(RELEASE)/kube-rescheduler.cdx.json" in recipe
