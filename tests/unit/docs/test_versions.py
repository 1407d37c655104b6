"""The version is one wherever it is written."""

from __future__ import annotations

import re
import tomllib

import yaml

from rescheduler import __version__
from rescheduler.policy.telling.numbers_in_force import CAREFUL_SINCE
from tests.paths import ROOT


def as_numbers(version: str) -> tuple[int, ...]:
    """For comparing."""
    return tuple(int(part) for part in version.split("."))


def test_package_and_chart_have_the_same_version() -> None:
    """As a user sees it: of the distribution, of the command, of the chart and of what the chart installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    chart = yaml.safe_load((ROOT / "deploy/chart/rescheduler/Chart.yaml").read_text(encoding="utf-8"))
    assert {project["version"], chart["version"], chart["appVersion"]} == {__version__}


def test_no_page_speaks_of_an_upgrade_to_a_version_that_there_is_not() -> None:
    """The newest that the page on upgrades tells of is this one or an older one; ``check`` names one of them."""
    text = (ROOT / "docs/upgrading.md").read_text(encoding="utf-8")
    told = re.findall(r"^## To (\S+),", text, re.MULTILINE)
    assert told
    assert not re.findall(r"^## From", text, re.MULTILINE)
    assert max(map(as_numbers, told)) <= as_numbers(__version__)
    assert CAREFUL_SINCE in told
