"""The package of plugins in docs/examples/plugin, installed beside rescheduler and used by its commands."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

from tests.paths import ROOT

PACKAGE = ROOT / "docs" / "examples" / "plugin"


def site_of(folder: Path) -> Path:
    """A folder in which the package stands as an installer leaves it: its code, and what it says of itself."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    site = folder / "site"
    code = "example_plugins"
    shutil.copytree(PACKAGE / code, site / code, ignore=shutil.ignore_patterns("__pycache__"))
    about = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("\n".join(groups))
    return site


def run(*arguments: str, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command of Python with the package installed, or without it."""
    paths = [str(ROOT), *([str(site)] if site else [])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, "-m", *arguments], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=240
    )


def recording(folder: Path, now: float) -> Path:
    """The small example as if it were taken now, with one busy node and samples of an hour for all of them."""
    cluster = json.loads((ROOT / "docs" / "examples" / "small.json").read_text(encoding="utf-8"))
    taken = datetime.fromtimestamp(now, UTC).isoformat().replace("+00:00", "Z")
    cluster["metadata"] = {**cluster.get("metadata", {}), "annotations": {"rescheduler.dev/takenAt": taken}}
    file = folder / "cluster.json"
    file.write_text(json.dumps(cluster), encoding="utf-8")
    names = [item["metadata"]["name"] for item in cluster["items"] if item["kind"] == "Node"]
    lines = [
        f"{now - seconds:.0f},{name},{(0.9 if name == names[0] else 0.2) + wobble},{0.3 + wobble}"
        for seconds in range(0, 3600, 5)
        for place, name in enumerate(names)
        for wobble in (seconds % 35 / 1000 + place / 100,)
    ]
    (folder / "use.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("policy.yaml", "scheduler.yaml"):
        shutil.copy(PACKAGE / name, folder)
    return file


def test_its_plugins_are_checked_and_plan(tmp_path: Path) -> None:
    """``check`` says what they do; a plan goes by the load that they tell."""
    site, file = site_of(tmp_path), recording(tmp_path, datetime.now(UTC).timestamp())
    policy = str(tmp_path / "policy.yaml")
    checked = run("rescheduler", "check", policy, site=site)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "runs a round when namespace shop has grown by 5 pods (NamespaceGrew)" in checked.stdout
    assert "asks CsvUse for measured load" in checked.stdout
    assert "NodeTeam" in checked.stdout
    assert "YoungNode x3 (days 14)" in checked.stdout
    planned = run("rescheduler", "plan", "-f", str(file), "--policy", policy, "-o", "json", site=site)
    assert planned.returncode == 0, planned.stderr
    assert "stand in for measured load" not in planned.stderr
    found = json.loads(planned.stdout)
    assert "worker-1" in {move["fromNode"] for move in found["moves"]}
    scored = run(
        "rescheduler", "score", "shop/web-2cprgjgpm-gtwbb", "-f", str(file), "--policy", policy, "-o", "wide",
        site=site,
    )  # fmt: skip
    assert "of 14 days old" in scored.stdout, scored.stderr


def test_load_that_it_cannot_tell_is_unknown(tmp_path: Path) -> None:
    """The provider is named, and nothing is moved by load."""
    site, file = site_of(tmp_path), recording(tmp_path, datetime.now(UTC).timestamp())
    (tmp_path / "use.csv").write_text("nonsense\n", encoding="utf-8")
    planned = run("rescheduler", "plan", "-f", str(file), "--policy", str(tmp_path / "policy.yaml"), site=site)
    assert "CsvUse at " in planned.stderr
    assert "requests stand in for measured load" in planned.stderr


def test_without_the_package_its_names_are_unknown() -> None:
    """Nothing of it is part of rescheduler."""
    checked = run("rescheduler", "check", str(PACKAGE / "policy.yaml"))
    assert checked.returncode != 0
    assert "triggers[0].name: found 'NamespaceGrew'; there are Schedule, PendingPods" in checked.stderr


def test_its_own_tests_pass(tmp_path: Path) -> None:
    """With nothing but rescheduler beside it."""
    without = ("-p", "no:cacheprovider", "-p", "no:schemathesis")
    ran = run("pytest", "-q", "-n0", *without, str(PACKAGE / "tests"), site=site_of(tmp_path))
    assert ran.returncode == 0, ran.stdout
