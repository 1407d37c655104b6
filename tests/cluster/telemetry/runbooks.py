"""Carries out the runbooks of docs/operations.md, word for word, as somebody at a terminal would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.paths import DEPLOY
from tests.unit.docs.page_commands import runbook

SECONDS_PER_RUNBOOK = 120
DAEMON = "app.kubernetes.io/component=daemon"
"""Label of the pods of the daemon's Deployment."""


class Operator:
    """An administrator of the cluster, in a folder with ``deploy/``, which may be written to."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        missing = [name for name in ("kubectl", "curl") if shutil.which(name) is None]
        if missing:
            pytest.skip(f"not installed: {', '.join(missing)}")
        shutil.copytree(DEPLOY, folder / "deploy")
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        access = {"KUBECONFIG": str(cluster.control_plane.kubeconfig), "XDG_STATE_HOME": str(folder / "state")}
        self._environment = {**os.environ, "PATH": path, **access}
        self._folder = folder

    def write(self, name: str, text: str) -> None:
        """Write a file that a runbook names."""
        (self._folder / name).write_text(text, encoding="utf-8")

    def carry_out(self, alert: str, **known: str) -> str:
        """Run the commands of an alert's runbook, each of which must work; what they print.

        ``known``: the variables that stand in them, and nothing else does.
        """
        commands = runbook(alert)
        assert commands, f"the runbook of {alert} has no commands"
        done = subprocess.run(
            ["bash", "-euc", commands], cwd=self._folder, env={**self._environment, **known},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS_PER_RUNBOOK,
        )  # fmt: skip
        assert done.returncode == 0, f"{alert}: {commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout
