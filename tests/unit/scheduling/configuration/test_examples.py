"""The examples that the documentation ships are read without an error."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.configuration import read_configuration
from tests.paths import EXAMPLES

FOLDER = EXAMPLES


@pytest.mark.parametrize(
    ("name", "schedulers", "warnings"),
    [
        ("kube-scheduler.yaml", ["default-scheduler", "packing"], 0),
        ("kube-scheduler-trimaran.yaml", ["by-load"], 0),
        ("volcano-scheduler.conf", ["volcano"], 0),
        ("legacy-policy.json", ["default-scheduler"], 1),
    ],
)
def test_examples(name: str, schedulers: list[str], warnings: int) -> None:
    """Each names its schedulers; only the form that is gone says so."""
    found = read_configuration((FOLDER / name).read_text(), name, scheduler_name=None)
    assert list(found.profiles) == schedulers
    assert len(found.warnings) == warnings
