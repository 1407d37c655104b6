"""One kube-scheduler with all profiles in place of the stock one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from benchmarks.fidelity.profiles import TEXT
from tests.cluster.plane.control_plane import ControlPlane

NAME = "fidelity"
CONTROLLERS = ("kube-controller-manager", "kwok")
"""Those besides the scheduler that change nodes and pods."""


@contextmanager
def alone(plane: ControlPlane, text: str = TEXT, frozen: tuple[str, ...] = ()) -> Iterator[str]:
    """It is the only scheduler; gives the very text that it was given.

    ``frozen``: components that do nothing meanwhile. Afterwards all are as they were.
    """
    try:
        plane.kill("kube-scheduler")
        plane.start_scheduler(NAME, yaml.safe_load(text))
        for component in frozen:
            plane.pause(component)
        yield (plane.root / f"{NAME}.yaml").read_text()
    finally:
        plane.settle()
