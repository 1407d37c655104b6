"""Runbooks: each has commands, the scenes carry them out, and the page explains what stands in them."""

from __future__ import annotations

import re

import pytest

from tests.paths import ROOT
from tests.unit.deploy.test_monitoring import ALERTS
from tests.unit.docs.page_commands import OPERATIONS, runbook
from tests.unit.docs.pages import blocks

SCENES = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "cluster" / "telemetry").glob("test_alerts*.py")
)


@pytest.mark.parametrize("alert", ALERTS)
def test_every_runbook_has_commands_that_a_scene_carries_out(alert: str) -> None:
    """On a real control plane, once the fault made the alert fire."""
    assert runbook(alert)
    fires = rf'wait_firing\("{alert}"'
    assert re.search(fires, SCENES)
    carried_out = r'(?:carry_out\(|mend\(operator, |put_in_force\(operator, cluster, |"alert", \[[^]]*)"'
    assert re.search(f'{carried_out}{alert}"', SCENES)


def test_every_command_of_the_page_is_one_of_a_runbook() -> None:
    """What stands elsewhere on the page would be carried out by nobody."""
    assert {block.heading for block in blocks(OPERATIONS, "sh")} == set(ALERTS)


def test_variables_in_commands_are_those_that_the_page_explains() -> None:
    """Each stands in the table, and the table has no other."""
    page = OPERATIONS.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[A-Z`, ]+`) \|", page, re.MULTILINE)
    used = re.findall(r"\$([A-Z]+)", "\n".join(map(runbook, ALERTS)))
    assert sorted(re.findall(r"[A-Z]+", " ".join(rows))) == sorted(set(used))
