"""The month of openb's arrivals: what is read of the trace, how the fleet is cut, and what comes into the archive."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from benchmarks.openb_month.archiving import START, Month, write_archive
from benchmarks.openb_month.objects import GPU_MILLI, instance_type, price_an_hour
from benchmarks.openb_month.trace import (
    NODES_FILE,
    TASKS_FILE,
    OpenNode,
    OpenTask,
    cut_fleet,
    last_days,
    mean_gpu_milli,
    read_nodes,
    read_tasks,
)
from rescheduler.adapters.files.archive.archive_reading import list_archive
from rescheduler.adapters.files.archive.archive_source import archive_source
from rescheduler.adapters.files.recording.reading import read_recording
from rescheduler.policy.reading.price_file import read_prices

BIG, SMALL = OpenNode("big", 96000, 393216, 8000, "G2"), OpenNode("small", 16000, 65536, 0, "")


def task(name: str, gpu_milli: int, came: int, went: int) -> OpenTask:
    """One that asks for four cores."""
    return OpenTask(name, 4000, 8192, gpu_milli, "LS", came, went)


def test_the_trace_is_read_as_published(tmp_path: Path) -> None:
    """GPUs in thousandths, of a node and of a task with several; tasks that were never served ask as well."""
    nodes = "sn,cpu_milli,memory_mib,gpu,model\nn-0,32000,262144,0,\nn-1,96000,393216,8,G2\n"
    tasks = (
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
        "p-0,12000,16384,2,1000,,LS,Running,5,90,6\np-1,6000,12288,1,460,,BE,Pending,7,80,\n"
    )
    for name, text in ((NODES_FILE, nodes), (TASKS_FILE, tasks)):
        (tmp_path / name).write_bytes(lzma.compress(text.encode()))
    assert read_nodes(tmp_path) == [
        OpenNode("n-0", 32000, 262144, 0, ""),
        OpenNode("n-1", 96000, 393216, 8000, "G2"),
    ]
    assert read_tasks(tmp_path) == [
        OpenTask("p-0", 12000, 16384, 2000, "LS", 5, 90),
        OpenTask("p-1", 6000, 12288, 460, "BE", 7, 80),
    ]


def test_what_is_asked_for_in_the_mean() -> None:
    """By the time within the stretch alone."""
    tasks = [task("a", 1000, -50, 50), task("b", 500, 75, 500), task("c", 9000, 100, 200)]
    assert mean_gpu_milli(tasks, 0, 100) == 1000 * 0.5 + 500 * 0.25
    assert last_days([task("a", 0, 0, 9), task("b", 0, 86400 * 9, 86400 * 99)], 2) == (86400 * 7, 86400 * 9)


@pytest.mark.parametrize("wanted", [16000, 80000, 400000])
def test_the_fleet_keeps_the_share_of_each_kind(wanted: int) -> None:
    """Of 100 large nodes and 50 small ones, about two to one, with as many GPUs as are wanted."""
    nodes = [BIG._replace(name=f"b{at}") for at in range(100)] + [SMALL._replace(name=f"s{at}") for at in range(50)]
    cut = cut_fleet(nodes, wanted)
    large = sum(node.model == "G2" for node in cut)
    assert large * 8000 == wanted
    assert len(cut) - large == pytest.approx(large / 2, abs=1)
    assert len({node.name for node in cut}) == len(cut)


def test_tasks_come_stay_and_go_in_the_archive(tmp_path: Path) -> None:
    """One that was placed keeps its node, one that does not fit waits until there is room, one that went is gone."""
    tasks = [task("first", 6000, 0, 7000), task("second", 4000, 1000, 9000), task("late", 1000, 5000, 20000)]
    month = Month([BIG, SMALL], tasks, 0, 10800)
    assert write_archive(month, tmp_path / "archive", 3600) == 3
    listing = list_archive(archive_source(str(tmp_path / "archive")), START + 1e6)
    assert (listing.problems, [one.time - START for one in listing.snapshots]) == ((), [0, 3600, 7200])
    assert [path.name for path in tmp_path.iterdir()] == ["archive"]
    seen = []
    for hour in range(3):
        cluster = read_recording([f"{tmp_path}/archive@2024-03-01T0{hour}:00:00Z"])
        assert (len(cluster.nodes), len(cluster.workloads)) == (2, len(cluster.pods))
        seen.append({pod.labels["task"]: pod.node_name for pod in cluster.pods})
        assert all(pod.is_ready == (pod.node_name is not None) for pod in cluster.pods)
    assert seen == [{"first": "big"}, {"first": "big", "second": None}, {"second": "big", "late": "big"}]
    asked = {pod.labels["task"]: dict(pod.spec.requests)[GPU_MILLI] for pod in cluster.pods}
    assert asked == {"second": 4000, "late": 1000}


def test_policies_and_prices_can_be_read(tmp_path: Path) -> None:
    """Before a month is planned for; each node finds its price."""
    from benchmarks.openb_month.__main__ import NAMES, POLICIES
    from rescheduler.batch.backtest.policy_variants import read_variants

    (tmp_path / "prices.json").write_text(
        json.dumps({"prices": [{"instanceType": instance_type(BIG), "price": price_an_hour(BIG)}]})
    )
    found = read_variants([str(POLICIES / f"{name}.yaml") for name in NAMES], [], str(tmp_path / "prices.json"))
    assert len(found.cases) == len(NAMES) == 4
    row = read_prices(str(tmp_path / "prices.json")).row_for({"node.kubernetes.io/instance-type": "G2-8g-96c"})
    assert row is not None
    assert row.price == pytest.approx(8 + 96 * 0.02)
