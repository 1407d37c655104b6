"""Builds the image with buildah, which needs no daemon, on a base image of Debian packages, and runs commands in it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.cluster.building.go_toolchain import cache_folder, lock
from tests.paths import DEPLOY, ROOT

SUITE: Final = "bookworm"
PACKAGES: Final = "python3,python3-venv,python3-pip,python-is-python3,ca-certificates"
BASE: Final = "localhost/python-base"
IMAGE: Final = "localhost/rescheduler"
HOST_CERTIFICATES: Final = Path("/etc/ssl/certs")
FOR_PIP: Final = ("PIP_CERT", "PIP_INDEX_URL", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy")
"""How packages are found and trusted on this machine, which the build takes over."""


def why_not() -> str | None:
    """What is lacking for building an image here; None: nothing."""
    lacking = [name for name in ("buildah", "mmdebstrap") if shutil.which(name) is None]
    if lacking:
        return f"not installed: {', '.join(lacking)}"
    return None if os.geteuid() == 0 else "only root may unpack a base image's files with their owners"


@dataclass(frozen=True)
class ImageEngine:
    """One store of images below ``folder``, which goes with it."""

    folder: Path

    def build(self) -> None:
        """The image of deploy/Dockerfile, from the checkout as it stands; its base stands for the one of a registry."""
        base = self._call("from", "scratch")
        self._call("add", base, str(base_archive()), "/")
        self._call(
            "config", "--env", "PIP_BREAK_SYSTEM_PACKAGES=1", base
        )  # Debian's pip asks for it, upstream's does not
        self._call("commit", "--rm", base, BASE)
        given = [f"--env={name}={os.environ[name]}" for name in FOR_PIP if name in os.environ]
        self._call(
            "build", *given, f"--volume={HOST_CERTIFICATES}:{HOST_CERTIFICATES}:ro", f"--build-arg=PYTHON_IMAGE={BASE}",
            f"--file={DEPLOY / 'Dockerfile'}", f"--tag={IMAGE}", str(ROOT), timeout=900.0,
        )  # fmt: skip

    def settings(self) -> dict[str, Any]:
        """What the image says of itself, as container engines read it."""
        found: dict[str, Any] = json.loads(self._call("inspect", "--type=image", IMAGE))["OCIv1"]["config"]
        return found

    def run(
        self, *command: str, mounts: Mapping[Path, str] | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """A command in a container of the image, as its user and with its variables, on the network of the host."""
        container = self._call("from", IMAGE)
        volumes = [f"--volume={source}:{target}:ro" for source, target in (mounts or {}).items()]
        named = [f"--env={name}={value}" for name, value in variables.items()]
        try:
            return subprocess.run(
                [*self._engine, "run", *volumes, *named, container, "--", *command],
                capture_output=True, text=True, timeout=200.0, env=self._environment,
            )  # fmt: skip
        finally:
            self._call("rm", container)

    @property
    def _engine(self) -> list[str]:
        return ["buildah", "--root", str(self.folder / "images"), "--runroot", str(self.folder / "run")]

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "BUILDAH_ISOLATION": "chroot", "STORAGE_DRIVER": "vfs"}

    def _call(self, *arguments: str, timeout: float = 300.0) -> str:
        command = [*self._engine, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=self._environment)
        assert done.returncode == 0, f"{' '.join(command)}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done.stdout.strip()


def base_archive() -> Path:
    """The files of a small Debian with Python, made once per machine from Debian's packages."""
    content = hashlib.sha256(f"{SUITE} {PACKAGES}".encode()).hexdigest()[:12]
    archive = cache_folder().parent / "image-base" / f"{content}.tar"
    with lock(archive.with_suffix(".lock")):
        if not archive.exists():
            made = archive.with_suffix(".part.tar")
            command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", SUITE, str(made)]
            subprocess.run(command, check=True, timeout=600.0)
            made.rename(archive)
    return archive
