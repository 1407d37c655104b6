"""Archives in an object store that is asked over the network: a server of the S3 protocol on loopback.

Needs s3fs (the extra ``s3``) and the package ``moto[server]``, which nothing else needs; without them it is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engines.dask_processes import DaskProcesses
from tests.paths import ROOT
from tests.unit.batch.backtest.archives import START, archive, rfc, sparse

s3fs = pytest.importorskip("s3fs", reason="the extra s3 is not installed")
moto = pytest.importorskip("moto.server", reason="moto[server] is not installed")
pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")]
URL = "s3://bucket/clusters/west"


class Store:
    """What a client of the store knows: its environment; and the same archive in a folder."""

    def __init__(self, address: str, folder: str) -> None:
        self.folder = folder
        self.environment = {
            "AWS_ENDPOINT_URL": address, "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "2",
        }  # fmt: skip

    def ask(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a user does."""
        return subprocess.run(
            [sys.executable, "-m", "rescheduler", *arguments], capture_output=True, text=True, timeout=600,
            env={**os.environ, **self.environment, "PYTHONPATH": str(ROOT), **environment},
        )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A server with one archive in a bucket."""
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    found = Store(f"http://{host}:{port}", archive(tmp_path, [sparse()] * 3))
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    files = s3fs.S3FileSystem(skip_instance_cache=True)
    files.makedirs("bucket", exist_ok=True)  # servers of one process share what they hold
    for path in Path(found.folder).iterdir():
        files.pipe(f"{URL}/{path.name}", path.read_bytes())
    yield found
    server.stop()


def test_an_archive_in_s3_says_what_the_folder_says(store: Store, tmp_path: Path) -> None:
    """As plans in local processes, as a history, and on Dask, whose workers read the store themselves."""
    given = ("--policy", "consolidate", "-o", "json")
    local = ("--processes", "2")
    for more in ((), ("--replay",)):
        here = store.ask("backtest", "--archive", store.folder, *given, *local, *more)
        there = store.ask("backtest", "--archive", URL, *given, *local, *more)
        assert (there.returncode, there.stderr) == (0, "")
        assert there.stdout == here.stdout
        assert json.loads(here.stdout)["rows"]
    pytest.importorskip("distributed", reason="the extra dask is not installed")
    dask = DaskProcesses(tmp_path)
    try:
        dask.add_worker()
        dask.wait_for_workers()
        on_dask = ("--engine", "dask", "--scheduler", dask.address, "--replay")
        assert store.ask("backtest", "--archive", URL, *given, *on_dask).stdout == here.stdout
    finally:
        dask.stop()


def test_other_readers_take_the_url_too(store: Store) -> None:
    """A listing, one snapshot as a recording, and a fleet of which another part is empty."""
    listed = [store.ask("record", "--list", "--archive", place, "-o", "json") for place in (store.folder, URL)]
    assert listed[0].stdout == listed[1].stdout != ""
    plan = store.ask("plan", "-f", f"{URL}@{rfc(START + 1200)}", "--policy", "consolidate", "-o", "json")
    assert json.loads(plan.stdout)["moves"]
    s3fs.S3FileSystem(skip_instance_cache=True).pipe("bucket/clusters/void/readme", b"nothing")
    fleet = store.ask("fleet", "plan", "--archives", "s3://bucket/clusters/*", "--policy", "consolidate", "-o", "json")
    found: dict[str, Any] = {one["name"]: one for one in json.loads(fleet.stdout)["clusters"]}
    assert fleet.returncode == 1
    assert found["west"]["evictions"] > 0
    assert "holds no snapshot" in found["void"]["error"]


def test_what_is_not_there_is_told(store: Store) -> None:
    """No such archive, no such bucket, nobody at the address: exit 1, the URL named, nothing on standard output."""
    for place, environment in (
        ("s3://bucket/none", {}),
        ("s3://nobody/none", {}),
        (URL, {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}),
    ):
        answer = store.ask("backtest", "--archive", place, "--policy", "consolidate", **environment)
        assert (answer.returncode, answer.stdout) == (1, "")
        assert place in answer.stderr
        assert "Traceback" not in answer.stderr
