"""``ledger accept-loss``: says what is missing, asks, and writes only after a yes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.unit.adapters.fake_api_server import Answer as ServerAnswer
from tests.unit.adapters.fake_api_server import FakeApiServer, Request, answer, serving
from tests.unit.adapters.kubernetes.ledger.ledger_objects import Objects
from tests.unit.cli.conftest import Answer

Shell = Callable[..., Answer]
POLICY = """apiVersion: rescheduler/v1alpha1
kind: ReschedulerPolicy
hold: {namespace: holds}
ledger: {name: book}
"""


@pytest.fixture
def objects() -> Objects:
    """What stands in the cluster."""
    return Objects()


@pytest.fixture
def given(objects: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The command for that cluster and ledger."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "policy.yaml").write_text(POLICY)

    def handle(request: Request) -> ServerAnswer:
        if request.path.endswith("/namespaces/kube-system"):
            return answer({"metadata": {"name": "kube-system", "uid": "uid-of-kube-system"}})
        return objects.handle(request)

    with serving(handle) as fake:
        yield [
            "ledger", "accept-loss", "--kubeconfig", str(kubeconfig(fake, tmp_path)), "--policy",
            str(tmp_path / "policy.yaml"),
        ]  # fmt: skip


def kubeconfig(server: FakeApiServer, folder: Path) -> Path:
    """A file that names it."""
    return Path(server.kubeconfig(folder))


def test_it_says_what_is_missing_and_asks(shell: Shell, given: list[str], objects: Objects) -> None:
    """After a no nothing is written; after a yes a ledger stands there that says when."""
    refused = shell(*given, typed="n\n")
    assert (refused.code, refused.out, objects.all) == (1, "", {})
    assert "ConfigMap holds/book is not there, or empty" in refused.err
    assert "Let evictions go on without what is lost? [y/N]" in refused.err
    accepted = shell(*given, typed="y\n")
    assert (accepted.code, accepted.out) == (
        0, "accepted: evictions go on by what stands in ConfigMap holds/book\n",
    )  # fmt: skip
    assert objects.book is not None
    assert '"acceptedAt":' in objects.book["data"]["ledger.json"]


def test_off_a_terminal_it_needs_yes(shell: Shell, given: list[str], objects: Objects) -> None:
    """Nothing is asked of the cluster without."""
    assert (shell(*given).code, objects.all) == (2, {})
    assert shell(*given, "--yes").code == 0
    assert objects.book is not None


def test_what_is_somebody_elses_stays(shell: Shell, given: list[str], objects: Objects) -> None:
    """Another program's ConfigMap is no ledger that was lost."""
    objects.put({"game.properties": "x"})
    refused = shell(*given, "--yes")
    assert refused.code == 1
    assert "is not ours" in refused.err
    assert objects.book is not None
    assert objects.book["data"] == {"game.properties": "x"}
