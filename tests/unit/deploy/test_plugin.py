"""``kubectl reschedule``: found by kubectl, called by its own name in help, and completed by the shell."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rescheduler import __version__
from tests.paths import DEPLOY

NAME = "kubectl-reschedule"


def script(folder: Path, name: str, function: str) -> Path:
    """A console script, as installers write them."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\nfrom rescheduler.__main__ import {function}\n{function}()\n")
    path.chmod(0o755)
    return path


def run(*command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in a plain terminal of 80 columns."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
    if folder is not None:
        environment["PATH"] = f"{folder}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=120, env=environment, check=False
    )


def test_help_shows_the_name_by_which_it_was_called(tmp_path: Path) -> None:
    """Whoever types ``kubectl reschedule`` reads that in every usage line."""
    plugin = script(tmp_path, NAME, "main")
    for arguments in (["--help"], ["plan", "--help"], ["explain", "pod", "--help"]):
        text = run(plugin, *arguments).stdout
        assert "Usage: kubectl reschedule " in text
        assert "Usage: rescheduler" not in text
    assert "Usage: rescheduler " in run(script(tmp_path, "rescheduler", "main"), "--help").stdout


def test_kubectl_finds_it(tmp_path: Path) -> None:
    """By ``kubectl plugin list``, and when it is called; exit codes go through."""
    kubectl = shutil.which("kubectl", path=str(Path(sys.executable).parent)) or shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl comes with the dependency group deploy")
    script(tmp_path, NAME, "main")
    assert str(tmp_path / NAME) in run(kubectl, "plugin", "list", folder=tmp_path).stdout
    assert __version__ in run(kubectl, "reschedule", "--version", folder=tmp_path).stdout
    assert run(kubectl, "reschedule", "plan", "--nonsense", folder=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("words", "wanted", "directive"),
    [
        ([""], ["plan\t", "explain\t", "run"], 4),
        (["pl"], ["plan\t"], 4),
        (["plan", "--ob"], ["--objective\t"], 4),
        (["plan", "-o", ""], ["table", "json", "html"], 4),
        (["plan", "--output", "js"], ["json"], 4),
        (["plan", "--policy", ""], ["balance", "pending-only"], 0),
        (["plan", "--policy", "pen"], ["pending-only"], 0),
        (["plan", "-f", ""], [], 0),
        (["plan", "--objective", "Sp"], ["SpreadLoad"], 4),
        (["run", "--log-level", ""], ["debug", "error"], 4),
        (["policy", ""], ["list\t", "show\t", "init\t"], 4),
        (["policy", "show", "b"], ["balance"], 4),
        (["policy", "init", "-o", ""], [], 0),
        (["plan", "--exit-code", "--nonsense"], [], 4),
        (["plan", "--exit-code", "--max"], ["--max-evictions\t"], 4),
        (["explain", ""], ["pod\t", "node\t"], 4),
        (["check", ""], [], 0),
        (["nonsense", "pl"], ["plan\t"], 4),
        ([], ["plan\t"], 4),
    ],
)
def test_kubectl_completes_what_is_typed(tmp_path: Path, words: list[str], wanted: list[str], directive: int) -> None:
    """Commands, options and their choices; files where a file is wanted. The last line is for kubectl."""
    done = run(script(tmp_path, "kubectl_complete-reschedule", "complete"), *words)
    *lines, last = done.stdout.splitlines()
    assert (done.returncode, last, done.stderr) == (0, f":{directive}", "")
    assert all(any(line.startswith(text) for line in lines) for text in wanted)
    assert bool(lines) == bool(wanted)
    assert all(line.startswith(words[-1]) for line in lines if words)


def test_the_krew_manifest_has_the_form_that_krew_wants() -> None:
    """Names, version, and for each platform an archive with the file that is to be run."""
    found = yaml.safe_load((DEPLOY / "krew.yaml").read_text())
    assert (found["apiVersion"], found["kind"]) == ("krew.googlecontainertools.github.com/v1alpha2", "Plugin")
    assert re.fullmatch(r"[a-z][-a-z0-9]*", found["metadata"]["name"])
    spec = found["spec"]
    assert spec["version"] == f"v{__version__}"
    assert 0 < len(spec["shortDescription"]) <= 50
    assert not spec["shortDescription"].endswith(".")
    assert spec["homepage"].startswith("https://")
    for platform in spec["platforms"]:
        assert platform["uri"].startswith("https://")
        assert re.fullmatch(r"[0-9a-f]{64}", platform["sha256"])
        assert platform["bin"] == f"kubectl-{found['metadata']['name']}"
        assert platform["bin"] in [file["from"] for file in platform["files"]]
        [expression] = platform["selector"]["matchExpressions"]
        assert set(expression["values"]) <= {"linux", "darwin", "windows"}


def test_what_krew_installs_runs_this_version() -> None:
    """The launcher names the version of the manifest, and can be executed."""
    launcher = DEPLOY / "krew" / NAME
    assert f"kube-rescheduler=={__version__} {NAME}" in launcher.read_text()
    assert os.access(launcher, os.X_OK)
