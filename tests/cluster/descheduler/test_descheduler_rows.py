"""Files that we read, warn of or refuse, given to the real descheduler: it starts with the same ones."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest

from rescheduler.descheduler.reading.policy_file import read_descheduler_policy
from rescheduler.policy.reading.errors import PolicyError
from tests.cluster.building.descheduler import descheduler_command, locate_descheduler
from tests.cluster.cluster import Cluster
from tests.cluster.tool import Tool
from tests.unit.descheduler import test_lint_rows as rows
from tests.unit.descheduler.drawn_files import drawn_file
from tests.unit.descheduler.reading import test_policy_file as files

DRAWN: Final = 60
ABSENT_CLASS: Final = files.evictor("{priorityThreshold: {name: nobody-made-it}}")
READ: Final[Mapping[str, str]] = {
    **rows.ACCEPTED,
    **{row: body for row, (body, _) in rows.WARNED.items()},
    **{said: body for body, said in files.READ_OVER},
}
REFUSED: Final[Mapping[str, str]] = {
    **{row: body for row, (body, _) in rows.REFUSED.items()},
    **{f"{said}, {number}": body for number, (body, said) in enumerate(files.REFUSED)},
    "an absent class": ABSENT_CLASS,
}


def _rows() -> dict[str, tuple[str, bool]]:
    """Text of each, and whether it is read."""
    read = {row: (files.HEAD + dedent(body), True) for row, body in READ.items()}
    return read | {row: (files.HEAD + dedent(body), False) for row, body in REFUSED.items()}


def _drawn() -> dict[str, tuple[str, bool]]:
    """The same, as we read each."""
    found = {}
    for seed in range(DRAWN):
        text, is_read = drawn_file(seed), True
        try:
            read_descheduler_policy(text, "policy.yaml")
        except PolicyError:
            is_read = False
        found[f"drawn file {seed}"] = text, is_read
    read = sum(is_read for _, is_read in found.values())
    assert DRAWN / 10 < read < DRAWN * 9 / 10
    return found


@pytest.mark.campaign
@pytest.mark.timeout(900)
def test_the_real_descheduler_starts_with_what_we_read_and_with_nothing_that_we_refuse(
    cluster: Cluster, tool: Tool, tmp_path: Path
) -> None:
    """Row by row of the unit tests of reading, and files that were drawn with something wrong in most of them.

    One cycle over two empty nodes, so that plugins are made and asked.
    """
    binary = locate_descheduler()
    cluster.add_nodes(2)
    file = tmp_path / "policy.yaml"
    command = descheduler_command(binary, cluster.control_plane.kubeconfig, file)
    different = {}
    for row, (text, is_read) in (_rows() | _drawn()).items():
        file.write_text(text)
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
        if (done.returncode == 0) is not is_read:
            different[row] = done.stderr[-300:]
    assert not different
    file.write_text(files.HEAD + dedent(ABSENT_CLASS))
    assert "nobody-made-it" in tool.run("plan", "--policy", str(file), code=2).errors
