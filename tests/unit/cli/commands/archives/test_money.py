"""Money in ``backtest`` and ``fleet plan``: what the plan says, what is saved of it, and whose prices count."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rescheduler.cli.commands.archives import backtest as command
from rescheduler.cli.commands.archives import fleet as fleet_command
from rescheduler.policy.fields.policy import API_VERSION
from tests.unit.batch.backtest.archives import FREE, archive, sparse
from tests.unit.batch.engine.working import Here

Shell = Callable[..., Any]
TYPE = "node.kubernetes.io/instance-type"
EMPTY = f"apiVersion: {API_VERSION}\nkind: ReschedulerPolicy\nobjectives: [{{name: EmptyNodes}}]\n"


@pytest.fixture(autouse=True)
def engine(monkeypatch: pytest.MonkeyPatch) -> Here:
    """Plans are made in this process."""
    found = Here()
    monkeypatch.setattr(command, "engine_of", lambda _: found)
    monkeypatch.setattr(fleet_command, "engine_of", lambda _: found)
    return found


@pytest.fixture
def kept(tmp_path: Path) -> str:
    """An archive of three snapshots of three nodes of types a, b and c, of which the pods fit on one."""
    (tmp_path / "empty.yaml").write_text(EMPTY)
    (tmp_path / "none.yaml").write_text(EMPTY + "limits: {maxEvictions: 0}\n")
    (tmp_path / "free.yaml").write_text(EMPTY + FREE)
    (tmp_path / "prices.csv").write_text("instanceType,price\na,1\nb,2\nc,3\n")
    objects = sparse()
    for node in objects[:3]:
        node["metadata"].setdefault("labels", {})[TYPE] = node["metadata"]["name"]
    return archive(tmp_path, [objects] * 3)


def asked(shell: Shell, *arguments: str) -> Any:
    """The document."""
    answer = shell("backtest", *arguments, "-o", "json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def test_a_row_tells_the_money_of_the_plan(kept: str, tmp_path: Path, shell: Shell) -> None:
    """As ``plan`` does with the same table; the summary says what is saved a month and an hour."""
    policy, prices = str(tmp_path / "empty.yaml"), str(tmp_path / "prices.csv")
    found = asked(shell, "--archive", kept, "--policy", policy, "--prices", prices)
    row = found["rows"][0]
    plan = json.loads(
        shell("plan", "-f", f"{kept}@{row['time']}", "--policy", policy, "--prices", prices, "-o", "json").out
    )
    assert row["cost"] == {name: plan["cost"][name] for name in ("currency", "before", "after")}
    assert row["cost"] == {"currency": "USD", "before": 6 * 730, "after": 730}
    cost = found["summary"][0]["cost"]
    assert cost["saving"] == {"mean": 5 * 730, "low": 5 * 730, "high": 5 * 730}
    assert (cost["savingPerHour"], cost["unpriced"], cost["currency"]) == (5, 0, "USD")


def test_a_policy_that_moves_nothing_saves_nothing(kept: str, tmp_path: Path, shell: Shell) -> None:
    """And the difference to it is what the other one saves."""
    names = [str(tmp_path / name) for name in ("none.yaml", "empty.yaml")]
    arguments = [word for name in names for word in ("--policy", name)]
    found = asked(shell, "--archive", kept, *arguments, "--prices", str(tmp_path / "prices.csv"))
    assert [one["cost"]["saving"]["mean"] for one in found["summary"]] == [0, 3650]
    assert found["summary"][1]["difference"]["cost"]["mean"] == -3650


def test_in_a_replay_money_is_saved_beside_the_history_in_which_nothing_is_moved(
    kept: str, tmp_path: Path, shell: Shell
) -> None:
    """What was saved once goes on being saved, though there is nothing left to do."""
    found = asked(
        shell, "--archive", kept, "--policy", str(tmp_path / "free.yaml"), "--prices", str(tmp_path / "prices.csv"),
        "--replay",
    )  # fmt: skip
    rows = {Path(row["policy"]).stem: row["cost"] for row in found["rows"]}
    assert rows["none"] == {"currency": "USD", "before": 4380, "after": 4380}
    assert rows["free"]["before"] == 4380
    policy, none = found["summary"]
    own = [row for row in found["rows"] if Path(row["policy"]).stem == "free"]
    costs = [row["cost"]["after"] for row in own]
    assert (own[-1]["evictions"], costs[-1]) == (0, 730)
    assert policy["cost"]["saving"]["mean"] == pytest.approx(4380 - sum(costs) / 3)
    assert none["cost"]["saving"]["mean"] == 0


def test_prices_of_the_policy_count_and_may_be_set(
    kept: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is found beside its policy from anywhere, one named by ``--set`` from here; ``--prices`` beats both."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "dear.csv").write_text("instanceType,price\na,10\nb,20\nc,30\n")
    (tmp_path / "own.yaml").write_text(EMPTY + "prices: {file: prices.csv, hoursPerMonth: 100}\n")
    given = ("--archive", kept, "--policy", "../own.yaml", "--every", "1h")
    found = asked(shell, *given, "--set", "prices.hoursPerMonth=100,200")
    assert [row["cost"]["before"] for row in found["rows"]] == [600, 1200]
    assert [one["cost"]["savingPerHour"] for one in found["summary"]] == [5, 5]
    set_ = asked(shell, *given, "--set", "prices.file=dear.csv")
    assert set_["rows"][0]["cost"]["before"] == 6000
    (tmp_path / "prices.csv").unlink()
    assert asked(shell, *given, "--prices", "dear.csv")["rows"][0]["cost"]["before"] == 6000


def test_what_has_no_price_is_told(kept: str, tmp_path: Path, shell: Shell) -> None:
    """It counts nothing; where no node has one there is no money."""
    (tmp_path / "prices.csv").write_text("instanceType,price\na,1\n")
    policy, prices = str(tmp_path / "empty.yaml"), str(tmp_path / "prices.csv")
    given = ("--archive", kept, "--policy", policy, "--prices", prices)
    assert asked(shell, *given)["summary"][0]["cost"]["unpriced"] == 2
    assert "up to 2 nodes have no price" in shell("backtest", *given).out
    assert "up to 2 nodes have no price" in shell("backtest", *given, "-o", "html").out
    (tmp_path / "prices.csv").write_text("instanceType,price\nz,1\n")
    found = asked(shell, *given)
    assert (found["rows"][0]["cost"], found["summary"][0]["cost"]) == (None, None)
    assert "SAVED" not in shell("backtest", *given).out


def test_table_and_page_show_money(kept: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A column, a line over time and a front of evictions against money; none of it without prices."""
    monkeypatch.setenv("COLUMNS", "200")
    given = (
        "backtest",
        "--archive",
        kept,
        "--policy",
        str(tmp_path / "empty.yaml"),
        "--set",
        "limits.maxEvictions=0,9",
    )
    prices = ("--prices", str(tmp_path / "prices.csv"))
    assert "3,650 [3,650, 3,650] USD, 5 an hour" in shell(*given, *prices).out
    page = shell(*given, *prices, "-o", "html").out
    plain = shell(*given, "-o", "html").out
    assert "Evictions against USD saved a month" in page
    assert page.count("<svg") == plain.count("<svg") + 2
    assert "saved" not in plain.lower()


def test_parquet_holds_the_money(kept: str, tmp_path: Path, shell: Shell) -> None:
    """As a struct with the row's fields."""
    parquet = pytest.importorskip("pyarrow.parquet")
    from rescheduler.report.backtest.parquet import parquet_bytes

    found = asked(shell, "--archive", kept, "--policy", str(tmp_path / "empty.yaml"), "--prices",
                  str(tmp_path / "prices.csv"))  # fmt: skip
    (tmp_path / "rows.parquet").write_bytes(parquet_bytes(found))
    rows = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [row["cost"] for row in rows] == [row["cost"] for row in found["rows"]]


def test_a_bad_table_is_wrong_use_before_anything_is_planned(
    kept: str, tmp_path: Path, shell: Shell, engine: Here
) -> None:
    """For both commands."""
    (tmp_path / "prices.csv").write_text("instanceType,price\na,-1\n")
    given = ("--policy", str(tmp_path / "empty.yaml"), "--prices", str(tmp_path / "prices.csv"))
    for answer in (
        shell("backtest", "--archive", kept, *given),
        shell("fleet", "plan", "--archives", kept, *given),
    ):
        assert (answer.code, answer.out, engine.asked) == (2, "", [])
        assert "prices.csv: prices[0].price: found -1" in answer.err


def test_other_prices_are_another_question(kept: str, tmp_path: Path, shell: Shell) -> None:
    """Results of one table are not gone on with by another."""
    given = ("--archive", kept, "--policy", str(tmp_path / "empty.yaml"), "--resume", str(tmp_path / "results"),
             "--prices", str(tmp_path / "prices.csv"))  # fmt: skip
    asked(shell, *given)
    (tmp_path / "prices.csv").write_text("instanceType,price\na,1\nb,2\nc,4\n")
    answer = shell("backtest", *given)
    assert (answer.code, "another question" in answer.err) == (2, True)


def test_a_fleet_tells_money_by_cluster_and_together(
    kept: str, tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those whose prices are known."""
    monkeypatch.setenv("COLUMNS", "200")
    given = ("fleet", "plan", "--archives", kept, "--policy", str(tmp_path / "empty.yaml"))
    prices = ("--prices", str(tmp_path / "prices.csv"))
    (one,) = json.loads(shell(*given, *prices, "-o", "json").out)["clusters"]
    assert one["cost"] == {"currency": "USD", "before": 4380, "after": 730}
    table = shell(*given, *prices).out
    assert "4,380.00 to 730.00 USD a month with what can be emptied, in 1 clusters" in table
    assert json.loads(shell(*given, "-o", "json").out)["clusters"][0]["cost"] is None
