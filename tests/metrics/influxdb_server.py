"""A real InfluxDB 1 on loopback, started and stopped by the tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from tests.cluster.plane.ports import free_port
from tests.cluster.plane.processes import Component

_CONFIGURATION = """
reporting-disabled = true
bind-address = "127.0.0.1:{rpc}"
[meta]
  dir = "{root}/meta"
[data]
  dir = "{root}/data"
  wal-dir = "{root}/wal"
  query-log-enabled = false
[http]
  bind-address = "127.0.0.1:{http}"
  log-enabled = false
  auth-enabled = {auth}
  max-row-limit = {rows}
[monitor]
  store-enabled = false
"""


def influxd() -> str | None:
    """The program, None where it is not installed."""
    return shutil.which(os.environ.get("INFLUXD", "influxd"))


class InfluxDBServer:
    """One server: ``address``, and a door for points."""

    def __init__(self, address: str, process: Component) -> None:
        self.address = address
        self.process = process

    def ask(self, statement: str, **form: str) -> None:
        """Run a statement that must succeed."""
        answer = requests.post(f"{self.address}/query", params=form, data={"q": statement}, timeout=10)
        answer.raise_for_status()
        assert "error" not in answer.text, answer.text

    def write(self, lines: Iterable[str], database: str = "telegraf", **parameters: str) -> None:
        """Store points in line protocol, times in milliseconds."""
        answer = requests.post(
            f"{self.address}/write",
            params={"db": database, "precision": "ms", **parameters},
            data="\n".join(lines).encode(),
            timeout=30,
        )
        assert answer.status_code == 204, answer.text


def _answers(address: str) -> bool:
    try:
        return requests.get(f"{address}/ping", timeout=2).status_code == 204
    except requests.RequestException:
        return False


@contextmanager
def influxdb_server(root: Path, *, auth: bool = False, rows: int = 0) -> Iterator[InfluxDBServer]:
    """A running server with the database ``telegraf`` (with ``auth``: the user admin, password "p:ss"), empty."""
    program = influxd()
    assert program is not None
    port = free_port()
    configuration = root / "influxdb.conf"
    configuration.write_text(
        _CONFIGURATION.format(root=root, http=port, rpc=free_port(), auth=str(auth).lower(), rows=rows)
    )
    address = f"http://127.0.0.1:{port}"
    process = Component(
        "influxd", [program, "-config", str(configuration)], root / "influxd.log", lambda: _answers(address)
    )
    process.start()
    try:
        server = InfluxDBServer(address, process)
        login = {}
        if auth:
            server.ask("CREATE USER admin WITH PASSWORD 'p:ss' WITH ALL PRIVILEGES")
            login = {"u": "admin", "p": "p:ss"}
        server.ask("CREATE DATABASE telegraf", **login)
        yield server
    finally:
        process.stop()
