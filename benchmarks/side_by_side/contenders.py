"""Who is compared: the descheduler under one of its policies, and ours under one of ours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from benchmarks.side_by_side.footprint import Footprint, run_measured
from tests.cluster.building.descheduler import descheduler_command, locate_descheduler

OURS = "rescheduler"
PEER = "descheduler"
STOCK, PACKED = "stock", "packing"
LONGEST_RUN_SECONDS = 900.0

Document: TypeAlias = dict[str, Any]

PACKING: Document = {
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                        }
                    },
                }
            ],
        }
    ]
}
"""A scheduler that fills nodes up, which the descheduler's documentation asks for beside HighNodeUtilization."""


@dataclass(frozen=True)
class Contender:
    """One program with its settings; it runs once a cycle."""

    name: str
    program: str
    """OURS or PEER."""
    run: Callable[[Path, Path], Footprint]
    """One cycle, with a kubeconfig and a folder for its files."""
    scheduler: Document = field(default_factory=dict)
    """How the scheduler is configured meanwhile; empty: not at all."""

    @property
    def scheduler_name(self) -> str:
        """How the scheduler chooses, in a word."""
        return PACKED if self.scheduler else STOCK

    @property
    def is_ours(self) -> bool:
        """Whether it is the rescheduler."""
        return self.program == OURS


def descheduler(name: str, plugin: str, arguments: Document, scheduler: Document | None = None) -> Contender:
    """The descheduler with one plugin, which looks whether a pod fits another node before it evicts it."""
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "side-by-side",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": {"nodeFit": True}},
                    {"name": plugin, "args": arguments},
                ],
                "plugins": {"balance": {"enabled": [plugin]}},
            }
        ],
    }

    def run(kubeconfig: Path, folder: Path) -> Footprint:
        file = _written(folder / "descheduler.yaml", policy)
        command = descheduler_command(locate_descheduler(), kubeconfig, file)
        return run_measured(command, timeout_seconds=LONGEST_RUN_SECONDS)

    return Contender(name, PEER, run, scheduler or {})


def rescheduler(
    name: str, policy: Document, scheduler: Document | None = None, words: Sequence[str] = ("apply", "--yes")
) -> Contender:
    """Ours: plan and carry out, under a policy; or what else ``words`` ask for."""

    def run(kubeconfig: Path, folder: Path) -> Footprint:
        document = {"apiVersion": "rescheduler/v1alpha1", "kind": "ReschedulerPolicy", **policy}
        if scheduler:
            head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
            _written(folder / "kube-scheduler.yaml", {**head, **scheduler})
            document["schedulers"] = [{"file": "kube-scheduler.yaml"}]
        file = _written(folder / "rescheduler.yaml", document)
        command = [sys.executable, "-m", "rescheduler", *words, "-o", "json",
                   "--policy", str(file), "--kubeconfig", str(kubeconfig)]  # fmt: skip
        # Of ledgers of other starts, which are gone by now, nothing may be remembered.
        return run_measured(command, timeout_seconds=LONGEST_RUN_SECONDS, state=folder / "state")

    return Contender(name, OURS, run, scheduler or {})


def _written(path: Path, document: Document) -> Path:
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path
