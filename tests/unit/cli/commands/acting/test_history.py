"""``history``: works without a cluster, and puts the cluster's ledger before what this machine remembers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.sqlite.history_store import HistoryStore, Place
from rescheduler.model.daemon.ledger import EntryState, Ledger
from tests.unit.adapters.fake_api_server import Answer as ServerAnswer
from tests.unit.adapters.fake_api_server import FakeApiServer, Request, answer, serving, status
from tests.unit.cli.conftest import Answer
from tests.unit.execution.entries import entry, ledger_of, old_text

Shell = Callable[..., Answer]
NOW = SystemClock().now()


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """This machine's file, and no kubeconfig anywhere."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    return tmp_path / "rescheduler" / "history.sqlite"


def remember(path: Path, cluster: str, *entries: Any, server: str = "https://one") -> None:
    """Lines of an earlier run on this machine."""
    HistoryStore(lambda: path, Place(cluster, server), SystemClock(), lambda _: None).note(entries)


def told(found: Answer) -> list[tuple[str, str]]:
    """Pods and states of a JSON answer."""
    assert found.code == 0, found
    return [(item["pod"]["name"], item["state"]) for item in json.loads(found.out)["entries"]]


@pytest.fixture
def ledger() -> list[Ledger | None]:
    """What stands in the cluster; changed by tests in place."""
    return [ledger_of(entry("web-0", at=NOW - 90, state=EntryState.REPAID, landed_on="n1"))]


@pytest.fixture
def server(ledger: list[Ledger | None]) -> Iterator[FakeApiServer]:
    """A cluster with a ledger."""

    def handle(request: Request) -> ServerAnswer:
        if request.path.endswith("/configmaps/rescheduler-ledger") and ledger[0] is not None:
            data = {"format": "1", "ledger.json": old_text(ledger[0])}
            return answer({"metadata": {"resourceVersion": "7"}, "data": data})
        if request.path.endswith("/namespaces/kube-system"):
            return answer({"metadata": {"name": "kube-system", "uid": "this-cluster"}})
        return status(404, "not found")

    with serving(handle) as fake:
        yield fake


def test_an_empty_history_is_a_sentence_and_no_failure(shell: Shell) -> None:
    """Without a cluster, without a file."""
    found = shell("history")
    assert (found.code, found.out) == (0, "no pod was moved, as far as is known here\n")
    assert told(shell("history", "-o", "json")) == []


def test_without_a_cluster_this_machine_tells_of_all(shell: Shell, state: Path) -> None:
    """And says that this is not everything."""
    remember(state, "a", entry("web-0", at=NOW - 60))
    remember(state, "b", entry("web-1", at=NOW - 30), server="https://two")
    found = shell("history", "-o", "json")
    assert told(found) == [("web-0", "Open"), ("web-1", "Open")]
    assert "what this machine remembers of any cluster is shown" in found.err


def test_the_cluster_s_ledger_comes_before_what_was_remembered(
    shell: Shell, state: Path, server: FakeApiServer, tmp_path: Path
) -> None:
    """Older lines of this cluster stand beside it; other clusters' do not."""
    remember(state, "this-cluster", entry("web-0", at=NOW - 90), entry("older", at=NOW - 900))
    remember(state, "another", entry("elsewhere", at=NOW - 60))
    found = shell("history", "-o", "json", "--kubeconfig", server.kubeconfig(tmp_path))
    assert told(found) == [("older", "Open"), ("web-0", "Repaid")]
    assert {request.method for request in server.requests} == {"GET"}


def test_a_ledger_that_cannot_be_read_is_a_warning(
    shell: Shell, state: Path, server: FakeApiServer, tmp_path: Path, ledger: list[Ledger | None]
) -> None:
    """What this machine remembers is shown."""
    remember(state, "this-cluster", entry("older", at=NOW - 900))
    ledger[0] = Ledger(plan=-1)
    found = shell("history", "-o", "json", "--kubeconfig", server.kubeconfig(tmp_path))
    assert told(found) == [("older", "Open")]
    assert "holds no ledger that can be read: plan is -1" in found.err


def test_a_cluster_that_does_not_answer_is_known_by_its_address(shell: Shell, state: Path, tmp_path: Path) -> None:
    """Lines of other clusters are left out."""
    with serving(lambda _: status(404, "gone")) as fake:
        kubeconfig = fake.kubeconfig(tmp_path)
        address = fake.url
    remember(state, "this-cluster", entry("web-0", at=NOW - 60), server=address)
    remember(state, "another", entry("web-1", at=NOW - 60))
    found = shell("history", "-o", "json", "--kubeconfig", kubeconfig)
    assert told(found) == [("web-0", "Open")]
    assert "what this machine remembers of this cluster is shown" in found.err


def test_since_and_namespace_choose(shell: Shell, state: Path) -> None:
    """Several namespaces may be named."""
    remember(state, "a", entry("old", at=NOW - 7200), entry("new", at=NOW - 60))
    assert told(shell("history", "-o", "json", "--since", "1h")) == [("new", "Open")]
    assert told(shell("history", "-o", "json", "-n", "other")) == []
    assert len(told(shell("history", "-o", "json", "-n", "other", "-n", "default"))) == 2


def test_a_kubeconfig_that_was_named_must_be_there(shell: Shell) -> None:
    """It is no reason to show something else."""
    found = shell("history", "--kubeconfig", "/nowhere")
    assert (found.code, found.out) == (1, "")
    assert "/nowhere" in found.err


def test_a_damaged_file_is_a_warning(shell: Shell, state: Path) -> None:
    """And is left where it is: reading changes nothing."""
    state.parent.mkdir()
    state.write_bytes(b"no database" * 100)
    found = shell("history")
    assert found.code == 0
    assert "it is damaged, or no sqlite file" in found.err
    assert state.read_bytes() == b"no database" * 100


@pytest.mark.parametrize(("arguments", "said"), [(["-o", "html"], "history has no such form"), (["--since", "5"], "5")])
def test_wrong_use(shell: Shell, arguments: list[str], said: str) -> None:
    """Exit 2, with what to write."""
    found = shell("history", *arguments)
    assert found.code == 2
    assert said in found.err


def test_every_form_tells_of_the_move(shell: Shell, state: Path) -> None:
    """Tables for people, documents for scripts."""
    remember(state, "a", entry("web-0", at=NOW - 60, reason="because"))
    for form in ("table", "wide", "json", "yaml"):
        found = shell("history", "-o", form)
        assert "web-0" in found.out
        assert "because" in found.out
