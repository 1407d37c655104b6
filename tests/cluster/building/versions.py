"""Another Kubernetes version than the committed one, by a module file derived from it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cluster.building.go_toolchain import BuildError, cache_folder, go_environment, lock
from tests.cluster.building.modules import Module, kubernetes

VERSION_VARIABLE = "RESCHEDULER_KUBERNETES_VERSION"
PATCHES = {"1.34": "1.34.4", "1.35": "1.35.4", "1.37": "1.37.2"}
"""Which release stands for a minor version that is asked for by its two numbers."""


def wanted_kubernetes(go: Path) -> Module:
    """Return the module of the Kubernetes version asked for by the environment, or the committed one."""
    committed = kubernetes()
    asked = os.environ.get(VERSION_VARIABLE, "").removeprefix("v")
    asked = PATCHES.get(asked, asked)
    if not asked or committed.version in (f"v{asked}", f"v{asked}.{committed.version.rpartition('.')[2]}"):
        return committed
    if not re.fullmatch(r"1\.\d+\.\d+(-\S+)?", asked):
        raise BuildError(
            f"{VERSION_VARIABLE}={asked}: wanted a Kubernetes version such as 1.35.4, or one of {', '.join(PATCHES)}"
        )
    folder = cache_folder() / f"kubernetes-{asked}-module"
    with lock(folder.with_name(folder.name + ".lock")):
        if not folder.exists():
            _derive(committed, asked, folder, go)
    return kubernetes(folder)


def _derive(committed: Module, version: str, folder: Path, go: Path) -> None:
    """Write the module file of another version and let Go complete it, all or nothing."""
    print(f"control plane: deriving the module file of Kubernetes {version}", file=sys.stderr)
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    head = (committed.folder / "go.mod").read_text().split("require (", 1)[0]
    (unfinished / "go.mod").write_text(head)
    staging = _staging_modules(go, unfinished, version)
    pins = "".join(f"\t{name} => {name} v0.{version.removeprefix('1.')}\n" for name in staging)
    (unfinished / "go.mod").write_text(f"{head}require k8s.io/kubernetes v{version}\n\nreplace (\n{pins})\n")
    _run(go, unfinished, "mod", "tidy")
    unfinished.rename(folder)


def _staging_modules(go: Path, folder: Path, version: str) -> list[str]:
    """Return the modules that Kubernetes keeps in its own tree; at a tag it names them by folder only."""
    answer = json.loads(_run(go, folder, "mod", "download", "-json", f"k8s.io/kubernetes@v{version}"))
    text = Path(answer["GoMod"]).read_text()
    return re.findall(r"^\s*(?:replace )?(k8s\.io/\S+) => \./staging/", text, re.MULTILINE)


def _run(go: Path, folder: Path, *arguments: str) -> str:
    """Run a Go command in a folder and return what it printed."""
    answer = subprocess.run(
        [str(go), *arguments], cwd=folder, env=go_environment(), capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        raise BuildError(f"go {' '.join(arguments)} failed:\n{answer.stderr.strip()[-4000:]}")
    return answer.stdout
