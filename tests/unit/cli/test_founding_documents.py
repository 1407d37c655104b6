"""What the founding documents print, given to the command line as it stands there, where they are at hand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

import pytest

from tests.unit.adapters.api_objects import node_object
from tests.unit.cli.desk import Desk, waiting
from tests.unit.scheduling.configuration.test_founding_documents import document, needs_documents, volcano_blocks


def blocks() -> Iterator[tuple[str, str]]:
    """Every block that configures a scheduler, with the scheduler's name."""
    yield from (("volcano", block) for block in volcano_blocks())
    risk = document("001")
    config_map = risk[risk.index("apiVersion: v1\nkind: ConfigMap") : risk.index("Plugin Deployment")]
    yield "trimaran", config_map
    yield "trimaran", dedent(config_map[config_map.index("    apiVersion: kubescheduler") :])
    ratio = document("004")
    yield "default-scheduler", ratio[ratio.index('"priorities": [') : ratio.index("The argument resources is optional")]


@needs_documents
def test_check_accepts_each_block_and_pods_are_placed_by_it(desk: Desk) -> None:
    """Exit 0 with warnings at most; ``schedule`` finds a node for the scheduler's pod."""
    found = list(blocks())
    assert len(found) == 7
    for name, block in found:
        path = desk.file("block.txt", block)
        answer = desk.shell("check", path)
        assert answer.code == 0
        assert f"{path} is valid. Scheduler {name} " in answer.out
        assert all(line.startswith("warning: ") for line in answer.err.splitlines())
        desk.record(node_object("a"), waiting(name))
        desk.policy("schedulers: [{file: block.txt}]")
        answer = desk.run("schedule", "-o", "json")
        assert (answer.code, '"node": "a"' in answer.out) == (0, True)


@needs_documents
@pytest.mark.parametrize("command", ["schedule", "plan", "score"])
def test_the_load_watchers_sample_is_a_recording_of_load(desk: Desk, command: str) -> None:
    """Nodes directly under ``data``, stray parts beside them, rollup for operator; it is only very old."""
    (sample,) = re.findall(r"JSON payload example:\s*```\n(.*?)```", document("000"), re.DOTALL)
    desk.record(node_object("node-1"), node_object("node-2"), waiting("default-scheduler"))
    desk.policy("")
    arguments = ["default/default-scheduler"] if command == "score" else []
    answer = desk.run(command, *arguments, "--usage", desk.file("usage.json", sample))
    assert answer.code == 0
    (told,) = answer.err.splitlines()
    assert "before the snapshot was taken, over 5m ago: the load counts as unknown" in told
