"""An include that systemNamespaces: Deny empties is told, where the rescheduler's own namespace is among them too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.daemon import assembly
from rescheduler.daemon.assembly import Daemon, DaemonOptions
from rescheduler.extension_points import ClusterError
from rescheduler.model.plan.disruption import OwnIdentity
from rescheduler.policy.reading.emptied_scope import refuse_emptied_scope
from rescheduler.policy.reading.errors import PolicyError
from tests.clocks import FakeClock
from tests.unit.policy.policies import HEAD, policy

ONLY = HEAD + "scope: {namespaces: {include: [%s]}}\n"


@pytest.mark.parametrize(
    ("scope", "is_refused"),
    [
        ("{namespaces: {include: [ours]}}", True),
        ("{namespaces: {include: [ours, kube-system]}}", True),
        ("{namespaces: {include: [ours]}, systemNamespaces: Allow}", False),
        ("{namespaces: {include: [ours, shop]}}", False),
        ("{namespaces: {include: [rescheduler-system]}}", False),
        ("{namespaces: {exclude: [ours]}}", False),
        ("{}", False),
    ],
)
def test_what_would_never_move_anything(scope: str, is_refused: bool) -> None:
    """Both fields, the names and the file are told; where something is left it is no error."""
    found = policy(f"scope: {scope}")
    if not is_refused:
        refuse_emptied_scope(found, "ours", ["p.yaml"])
        return
    with pytest.raises(PolicyError) as refused:
        refuse_emptied_scope(found, "ours", ["p.yaml"])
    told = str(refused.value)
    assert told.startswith("p.yaml: scope.namespaces.include: names only ours")
    assert "systemNamespaces: Deny" in told


@pytest.mark.parametrize("command", ["check", "plan"])
def test_commands_take_the_usual_namespace_for_ours(shell: Any, tmp_path: Path, command: str) -> None:
    """Exit 2, before the cluster is read; nobody knows yet where ``run`` will be."""
    file = tmp_path / "p.yaml"
    file.write_text(ONLY % "rescheduler-system", encoding="utf-8")
    given = [str(file)] if command == "check" else ["--policy", str(file), "-f", "none.json"]
    answer = shell(command, *given)
    assert (answer.code, answer.out) == (2, "")
    assert "names only rescheduler-system" in answer.err


def test_run_knows_its_own_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It refuses to begin where the pods of that namespace are all that it may move."""
    file = tmp_path / "p.yaml"
    file.write_text(ONLY % "ops", encoding="utf-8")
    where = ClusterOptions(kubeconfig=str(tmp_path / "none"))

    def begin(namespace: str) -> None:
        monkeypatch.setattr(assembly, "own_identity", lambda: OwnIdentity(namespace))
        Daemon(DaemonOptions(where, (str(file),)), FakeClock(), beat=lambda: None, progress=lambda *_: None)

    with pytest.raises(PolicyError, match=r"names only ops, .* \(ops is the rescheduler's own namespace\)"):
        begin("ops")
    with pytest.raises(ClusterError):
        begin("elsewhere")
