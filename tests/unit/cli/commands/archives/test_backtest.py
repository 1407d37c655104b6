"""``backtest`` on the command line: rows that say what a plan says, and what is told when a part cannot be done."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rescheduler.adapters.files.archive.archive_writing import ArchiveWriter
from rescheduler.adapters.files.archive.recorded_content import read_content
from rescheduler.batch.backtest.task import Planned
from rescheduler.cli.commands.archives import backtest as command
from rescheduler.policy.fields.policy import API_VERSION
from tests.unit.adapters.files.archive.snapshots import recording
from tests.unit.batch.backtest.archives import START, archive, owned, rfc, sparse
from tests.unit.batch.engine.working import Here
from tests.unit.docs.pages import DOCS

Shell = Callable[..., Any]
FUTURE, NEVER = "2999-01-01T00:00:00Z", 32_472_144_000
EMPTY = f"apiVersion: {API_VERSION}\nkind: ReschedulerPolicy\nobjectives: [{{name: EmptyNodes}}]\n"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Plans are made in this process."""
    found = Here()
    monkeypatch.setattr(command, "engine_of", lambda _: found)
    return found


@pytest.fixture
def kept(tmp_path: Path) -> str:
    """An archive of four snapshots, 20 minutes apart, of a cluster of which nodes can be emptied."""
    (tmp_path / "empty.yaml").write_text(EMPTY)
    (tmp_path / "guarded.yaml").write_text(EMPTY + "limits: {maxEvictions: 0}\n")
    return archive(tmp_path, [sparse()] * 4)


def asked(shell: Shell, *arguments: str, code: int = 0) -> Any:
    """The document."""
    answer = shell("backtest", *arguments, "-o", "json")
    assert answer.code == code, answer.err
    return json.loads(answer.out)


def test_a_row_is_what_plan_says_of_that_recording(kept: str, tmp_path: Path, shell: Shell, engine: Here) -> None:
    """Moves in its order, objectives, refusals, and what stands in use afterwards."""
    policy = str(tmp_path / "empty.yaml")
    row = asked(shell, "--archive", kept, "--policy", policy)["rows"][1]
    plan = json.loads(shell("plan", "-f", f"{kept}@{row['time']}", "--policy", policy, "-o", "json").out)
    assert row["time"] == rfc(START + 1200)
    assert (row["policy"], row["setting"]) == (policy, {})
    assert row["moves"] == [{key: move[key] for key in ("pod", "fromNode", "toNode")} for move in plan["moves"]]
    assert [one["value"] for one in row["objectives"]] == [one["value"] for one in plan["objectives"]]
    assert row["evictions"] == len(plan["moves"]) > 0
    assert row["nodesEmptied"] == 3 - row["nodesInUse"] == 2
    assert sum(row["refusals"].values()) == len(plan["refusals"])
    assert (row["pendingMinutes"], row["churn"], row["cost"], row["overload"]) == (None, None, None, None)


def test_rows_come_by_policy_and_setting_then_time_the_first_set_slowest(
    kept: str, tmp_path: Path, shell: Shell, engine: Here
) -> None:
    """As given, so that a script may go by their places."""
    names = [str(tmp_path / "empty.yaml"), str(tmp_path / "guarded.yaml")]
    found = asked(shell, "--archive", kept, "--policy", names[0], "--policy", names[1], "--every", "40m",
                  "--set", "limits.maxEvictions=1,9", "--set", "scope.minimumAge=0s,1m")  # fmt: skip
    expected = [
        (name, {"limits.maxEvictions": most, "scope.minimumAge": age}, rfc(START + at))
        for name in names for most in (1, 9) for age in ("0s", "1m") for at in (0, 2400)
    ]  # fmt: skip
    assert [(row["policy"], row["setting"], row["time"]) for row in found["rows"]] == expected
    assert found["archive"] == {"from": rfc(START), "to": rfc(START + 2400), "snapshots": 2}
    assert [row["evictions"] for row in found["rows"][:4]] == [1, 1, 1, 1]
    summary = found["summary"]
    assert len(summary) == 8
    assert summary[0]["difference"] is None
    assert summary[2]["difference"]["evictions"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert summary[2]["workloads"] == [{"workload": "ReplicaSet default/web", "evictions": 4}]


def test_times_are_chosen_from_the_first_one_used(kept: str, tmp_path: Path, shell: Shell, engine: Here) -> None:
    """``--from`` and ``--to`` include both ends."""
    policy = str(tmp_path / "empty.yaml")
    found = asked(shell, "--archive", kept, "--policy", policy, "--from", rfc(START + 1200), "--to", rfc(START + 3600),
                  "--every", "40m")  # fmt: skip
    assert [row["time"] for row in found["rows"]] == [rfc(START + 1200), rfc(START + 3600)]


def test_policies_are_laid_over_each_other_by_a_comma(kept: str, tmp_path: Path, shell: Shell, engine: Here) -> None:
    """Each ``--policy`` is else one of its own."""
    names = f"{tmp_path / 'empty.yaml'},{tmp_path / 'guarded.yaml'}"
    found = asked(shell, "--archive", kept, "--policy", names)
    assert {row["evictions"] for row in found["rows"]} == {0}
    assert found["rows"][0]["policy"] == names


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("limits.maxEviction=3", "maxEvictions"),
        ("limits.maxEvictions=many", "limits.maxEvictions"),
        ("limits", "FIELD=VALUE"),
        ("objectives[4].moveCost=1", "no entry [4]"),
    ],
)
def test_a_wrong_field_is_told_before_anything_is_planned(
    kept: str, tmp_path: Path, shell: Shell, engine: Here, setting: str, told: str
) -> None:
    """Exit 2, with the nearest name there is."""
    answer = shell("backtest", "--archive", kept, "--policy", str(tmp_path / "empty.yaml"), "--set", setting)
    assert (answer.code, answer.out, engine.asked) == (2, "", [])
    assert told in answer.err


def test_a_missing_policy_is_wrong_use_and_one_of_another_version_a_failure(
    kept: str, tmp_path: Path, shell: Shell, engine: Here
) -> None:
    """As long as another is left."""
    assert shell("backtest", "--archive", kept, "--policy", str(tmp_path / "none.yaml")).code == 2
    other = tmp_path / "other.yaml"
    other.write_text(EMPTY.replace(API_VERSION, "rescheduler/v9"))
    assert shell("backtest", "--archive", kept, "--policy", str(other)).code == 2
    found = asked(shell, "--archive", kept, "--policy", str(other), "--policy", str(tmp_path / "empty.yaml"), code=1)
    assert [(one["time"], one["policy"]) for one in found["failed"]] == [(None, str(other))]
    assert "rescheduler/v9" in found["failed"][0]["reason"]
    assert len(found["rows"]) == 4


def truncated(kept: Path, folder: Path) -> None:
    """The second snapshot."""
    victim = sorted(kept.glob("*.snapshot"))[1]
    victim.write_bytes(victim.read_bytes()[:-9])


def missing(kept: Path, folder: Path) -> None:
    """What all of the first hour differ from."""
    min(kept.glob("*.pool")).unlink()


def doubled(kept: Path, folder: Path) -> None:
    """Two recorders' snapshots of the first time, copied together."""
    (folder / "other").mkdir()
    for path in Path(archive(folder / "other", [sparse(owned("web-7", "a", "web"))])).iterdir():
        path.rename(kept / path.name)


def to_come(kept: Path, folder: Path) -> None:
    """By a recorder whose clock was wrong."""
    file = recording(folder, FUTURE, name="to_come.json")
    ArchiveWriter(str(kept)).add(read_content(file), NEVER)


def of_another_form(kept: Path, folder: Path) -> None:
    """By a later version."""
    victim = sorted(kept.glob("*.snapshot"))[1]
    victim.write_bytes(victim.read_bytes().replace(b'"kind":"Snapshot"', b'"kind":"Snapshot","form":2', 1))


def emptied(kept: Path, folder: Path) -> None:
    """A disk that was full, or a host that lost its power."""
    sorted(kept.glob("*.snapshot"))[1].write_bytes(b"")


def led_astray(kept: Path, folder: Path) -> None:
    """A link to a file that was not brought along."""
    victim = sorted(kept.glob("*.snapshot"))[1]
    victim.unlink()
    victim.symlink_to(folder / "elsewhere")


def misnamed(kept: Path, folder: Path) -> None:
    """Two snapshots, each under the other's name."""
    one, other = sorted(kept.glob("*.snapshot"))[1:3]
    one.rename(folder / "one")
    other.rename(one)
    (folder / "one").rename(other)


@pytest.mark.parametrize("replay", [False, True])
@pytest.mark.parametrize(
    ("harm", "told", "failed", "left"),
    [
        (emptied, "damaged", [START + 1200], [0, 2400, 3600]),
        (led_astray, "is missing", [START + 1200], [0, 2400, 3600]),
        (misnamed, "its name does not say what it is", [START + 1200, START + 2400], [0, 3600]),
        (truncated, "damaged", [START + 1200], [0, 2400, 3600]),
        (missing, "is missing", [START, START + 1200, START + 2400], [3600]),
        (doubled, "another snapshot of the same time", [START], [0, 1200, 2400, 3600]),
        (to_come, "is of a time to come", [NEVER], [0, 1200, 2400, 3600]),
        (of_another_form, "this version reads form 1", [START + 1200], [0, 2400, 3600]),
    ],
)
def test_what_is_wrong_with_an_archive_is_told_and_the_rest_is_planned_for(
    kept: str, tmp_path: Path, shell: Shell, engine: Here, harm: Callable[[Path, Path], None], told: str,
    failed: list[int], left: list[int], replay: bool,
) -> None:  # fmt: skip
    """Each with its time and reason on standard error and in the document; exit 1."""
    harm(Path(kept), tmp_path)
    given = ("--archive", kept, "--policy", str(tmp_path / "empty.yaml"), "-o", "json")
    answer = shell("backtest", *given, *(["--replay"] if replay else []))
    found = json.loads(answer.out)
    assert answer.code == 1
    assert [(one["time"], one["policy"], told in one["reason"]) for one in found["failed"]] == [
        (rfc(time), None, True) for time in failed
    ]
    assert all(f"error: {rfc(time)}: " in answer.err for time in failed)
    assert not any(f"{rfc(time)}: {rfc(time)}" in answer.err for time in failed)
    policies = 2 if replay else 1  # and the history in which nothing is moved
    assert [row["time"] for row in found["rows"]] == [rfc(START + at) for at in left] * policies


def test_files_recorded_out_of_order_are_answered_as_those_in_order(
    kept: str, tmp_path: Path, shell: Shell, engine: Here
) -> None:
    """Byte for byte, with a history too: the time counts, and nothing else."""
    for number in (2, 0, 3, 1):
        file = recording(tmp_path, rfc(START + 1200 * number), *sparse(), name=f"{number}.json")
        assert shell("record", "--archive", str(tmp_path / "mixed"), "-f", file).code == 0
    given = ("--policy", str(tmp_path / "empty.yaml"), "-o", "json")
    for more in ((), ("--replay",)):
        answers = [shell("backtest", "--archive", one, *given, *more) for one in (kept, str(tmp_path / "mixed"))]
        assert answers[0].out == answers[1].out
        assert json.loads(answers[0].out)["rows"]


def test_nothing_to_read_is_a_failure_with_nothing_on_standard_output(
    tmp_path: Path, shell: Shell, engine: Here
) -> None:
    """No folder, and a folder with nothing in it."""
    (tmp_path / "empty").mkdir()
    for name in ("nowhere", "empty"):
        answer = shell("backtest", "--archive", str(tmp_path / name))
        assert (answer.code, answer.out) == (1, "")
        assert name in answer.err


def test_an_interrupted_run_is_gone_on_with(kept: str, tmp_path: Path, shell: Shell, engine: Here) -> None:
    """The same command line does what is left and what was damaged, no task twice, and says the same."""
    given = ("--archive", kept, "--policy", str(tmp_path / "empty.yaml"), "--resume", str(tmp_path / "results"))
    whole = asked(shell, *given)
    lines = (tmp_path / "results").read_bytes().splitlines(keepends=True)
    assert len(lines) == 5
    (tmp_path / "results").write_bytes(b"".join(lines[:3]) + lines[3][:20])
    engine.asked.clear()
    assert asked(shell, *given) == whole
    assert len(engine.asked) == 2
    assert len((tmp_path / "results").read_bytes().splitlines()) == 5
    (tmp_path / "results").write_bytes(b"".join(lines).replace(b'"result":"{', b'"result":"x{', 1))
    engine.asked.clear()
    assert asked(shell, *given) == asked(shell, *given) == whole
    assert len(engine.asked) == 1
    (tmp_path / "results").write_bytes(b"".join(lines))
    other = shell("backtest", *given, "--seed", "7")
    assert (other.code, "another question" in other.err) == (2, True)
    assert len((tmp_path / "results").read_bytes().splitlines()) == 5


def test_each_result_is_read_once(kept: str, tmp_path: Path, shell: Shell, engine: Here,
                                  monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """One that a file keeps, to see that it is whole and for its rows; and a new one. A month's histories are large."""
    given = ("--archive", kept, "--policy", str(tmp_path / "empty.yaml"), "--resume", str(tmp_path / "results"))
    whole = asked(shell, *given)
    lines = (tmp_path / "results").read_bytes().splitlines(keepends=True)
    (tmp_path / "results").write_bytes(b"".join(lines[:3]))
    read, decode = [], msgspec.json.decode

    def noted(text: bytes, **named: Any) -> Any:
        if named.get("type") is Planned:
            read.append(text)
        return decode(text, **named)

    monkeypatch.setattr(msgspec.json, "decode", noted)
    assert asked(shell, *given) == whole
    assert len(read) == len(set(read)) == 4


def test_the_same_bytes_with_any_number_of_processes(kept: str, tmp_path: Path, shell: Shell, engine: Here,
                                                     monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """And none but what was asked for in them: no path of the archive, no time that it took."""
    given = ("backtest", "--archive", kept, "--policy", "consolidate", "-o", "json")
    here = shell(*given).out
    monkeypatch.undo()
    monkeypatch.setenv("COLUMNS", "160")
    assert shell(*given, "--processes", "2").out == here
    assert str(tmp_path) not in here
    assert "seconds" not in here


def test_the_page_loads_nothing(kept: str, tmp_path: Path, shell: Shell, engine: Here) -> None:
    """Charts are in it."""
    policy = str(tmp_path / "empty.yaml")
    page = shell(
        "backtest", "--archive", kept, "--policy", policy, "--set", "limits.maxEvictions=0,1,9", "-o", "html"
    ).out
    assert page.count("<svg") == 4
    assert "limits.maxEvictions=9" in page
    assert not any(word in page for word in ("http:", "https:", "src=", "<script", "@import", "url("))


def test_parquet_holds_the_same_rows(kept: str, tmp_path: Path, engine: Here) -> None:
    """One column for each field that was set, by its name."""
    parquet = pytest.importorskip("pyarrow.parquet")
    from rescheduler.report.backtest.parquet import parquet_bytes

    document = asked_document(kept, tmp_path, engine)
    (tmp_path / "rows.parquet").write_bytes(parquet_bytes(document))
    table = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [row["limits.maxEvictions"] for row in table] == [0] * 4 + [9] * 4
    for row, wanted in zip(table, document["rows"], strict=True):
        assert {**row, "refusals": dict(row["refusals"])} == {
            **{name: value for name, value in wanted.items() if name != "setting"},
            "limits.maxEvictions": wanted["setting"]["limits.maxEvictions"],
        }


def test_the_query_of_the_page_reads_them(kept: str, tmp_path: Path, engine: Here) -> None:
    """As it stands in docs/back-testing.md, by DuckDB; and times are such for its functions."""
    pytest.importorskip("pyarrow")
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed; nothing else needs it")
    from rescheduler.report.backtest.parquet import parquet_bytes

    document = asked_document(kept, tmp_path, engine)
    file = tmp_path / "rows.parquet"
    file.write_bytes(parquet_bytes(document))
    [line] = re.findall(r'^duckdb -c "(.*)"$', (DOCS / "back-testing.md").read_text(), re.MULTILINE)
    query = line.replace('\\"', '"').replace("rows.parquet", str(file))
    assert sorted(duckdb.sql(query).fetchall()) == [(0, 0, 3.0), (9, 8, 1.0)]
    [(first,)] = duckdb.sql(f"select strftime(min(time::timestamp), '%Y-%m-%dT%H:%M:%SZ') from '{file}'").fetchall()
    assert first == rfc(START)


def asked_document(kept: str, tmp_path: Path, engine: Here) -> Any:
    """A document with two settings, without a command line."""
    from rescheduler.batch.backtest.policy_variants import parse_set, read_variants
    from rescheduler.batch.backtest.running import BacktestRequest, BacktestSpan, run_backtest
    from rescheduler.batch.backtest.task import Task

    cases = read_variants([str(tmp_path / "empty.yaml")], [parse_set("limits.maxEvictions=0,9")])
    return run_backtest(BacktestRequest(Task(kept, (), ""), BacktestSpan()), cases, engine).document


def test_a_table_tells_policies_apart(kept: str, tmp_path: Path, shell: Shell, engine: Here) -> None:
    """Each with what it evicts, and against the first."""
    answer = shell("backtest", "--archive", kept, "--policy", str(tmp_path / "guarded.yaml"), "--policy",
                   str(tmp_path / "empty.yaml"))  # fmt: skip
    assert answer.code == 0
    assert "nodes in use -2 [-2, -2]" in answer.out
    assert "most moved: ReplicaSet default/web 8" in answer.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [([], "--archive"), (["--archive", "A", "--scheduler", "x"], "--engine dask"),
     (["--archive", "A", "--engine", "dask", "--processes", "2"], "Dask's workers")],
)  # fmt: skip
def test_wrong_use(shell: Shell, arguments: list[str], told: str) -> None:
    """Exit 2."""
    answer = shell("backtest", *arguments)
    assert (answer.code, told in answer.err) == (2, True), answer.err
