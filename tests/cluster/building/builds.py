"""Builds one Go module into the cache, once per machine, and shows how far it is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import IO

from tests.cluster.building.go_toolchain import BuildError, cache_folder, go_environment, go_version, lock
from tests.cluster.building.modules import COMPILE_FLAGS, Module

PLAIN_INTERVAL_SECONDS = 30.0
TERMINAL_INTERVAL_SECONDS = 0.5


def build(module: Module, go: Path) -> Path:
    """Return the folder with the module's binaries, building them first where the cache has none."""
    folder = cache_folder() / f"{module.name}-{module.fingerprint(go_version(go))}"
    if folder.exists():
        return folder
    with lock(folder.with_name(folder.name + ".lock")):
        if not folder.exists():
            _build_into(module, go, folder)
    return folder


def _build_into(module: Module, go: Path, folder: Path) -> None:
    """Build into a folder of another name and rename it, so that a broken build leaves nothing behind."""
    unfinished = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        _compile(module, go, unfinished)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _compile(module: Module, go: Path, folder: Path) -> None:
    """Run the Go build; a module with one tool names its file, as a package's last part need not be its name."""
    target = folder / next(iter(module.tools)) if len(module.tools) == 1 else f"{folder}{os.sep}"
    command = [str(go), "build", "-v", *COMPILE_FLAGS, "-ldflags", module.link_flags, "-o", str(target)]
    progress = Progress(f"{module.name} {module.version}")
    with subprocess.Popen(
        [*command, *module.tools.values()],
        cwd=module.folder,
        env=go_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        last_lines = progress.follow(process.stderr)
    if process.returncode != 0:
        raise BuildError(f"building {module.name} {module.version} failed:\n" + "".join(last_lines))
    progress.done()


class Progress:
    """Tells on stderr which module is being built: a moving line on a terminal, now and then a plain one elsewhere."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._started = time.monotonic()
        self._downloads = 0
        self._packages = 0
        self._on_terminal = sys.stderr.isatty()
        self._stopped = threading.Event()

    def follow(self, lines: IO[str]) -> list[str]:
        """Count what the Go command reports until it ends, and return its last lines."""
        last: deque[str] = deque(maxlen=40)
        ticker = threading.Thread(target=self._tick, daemon=True)
        ticker.start()
        for line in lines:
            last.append(line)
            if line.startswith("go: downloading"):
                self._downloads += 1
            else:
                self._packages += 1
        self._stopped.set()
        ticker.join()
        return list(last)

    def done(self) -> None:
        """Say that the module is built."""
        self._say("built", "\n")

    def _tick(self) -> None:
        """Say how far the build is until it is over."""
        self._say("building", "")
        while not self._stopped.wait(TERMINAL_INTERVAL_SECONDS if self._on_terminal else PLAIN_INTERVAL_SECONDS):
            self._say("building", "")

    def _say(self, what: str, end: str) -> None:
        """Write one line, over the previous one where that is possible."""
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        counts = f"{self._packages} packages compiled, {self._downloads} modules downloaded"
        text = f"control plane: {what} {self._title}: {counts}, {minutes}:{seconds:02d}"
        if self._on_terminal:
            print(f"\r\033[K{text}", end=end, file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)
