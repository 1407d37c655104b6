"""A real OpenSearch or Elasticsearch on loopback; Maven brings its smallest distribution into the user's cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests

from tests.cluster.plane.ports import free_port
from tests.cluster.plane.processes import Component

_DOWNLOAD_SECONDS = 300
_CONFIGURATION = """
cluster.name: rescheduler-tests
node.name: only
network.host: 127.0.0.1
http.port: {http}
transport.port: {transport}
discovery.type: single-node
path.data: {root}/data
path.logs: {root}/logs
cluster.routing.allocation.disk.threshold_enabled: false
"""


class Product(NamedTuple):
    """One distribution: its Maven artifact, its main class, and the prefix of its system properties."""

    group: str
    name: str
    version: str
    main: str
    prefix: str


OPENSEARCH = Product(
    "org.opensearch.distribution.integ-test-zip",
    "opensearch",
    "2.19.3",
    "org.opensearch.bootstrap.OpenSearch",
    "opensearch",
)
ELASTICSEARCH = Product(
    "org.elasticsearch.distribution.integ-test-zip",
    "elasticsearch",
    "7.17.22",
    "org.elasticsearch.bootstrap.Elasticsearch",
    "es",
)


class SearchServer:
    """A running server: ``address``, and a door for documents."""

    def __init__(self, address: str) -> None:
        self.address = address

    def create(self, index: str, fields: Mapping[str, str]) -> None:
        """Make an index whose fields, by their dotted names, have these types."""
        mapping = {"properties": _properties(fields)}
        body = {"settings": {"number_of_replicas": 0, "number_of_shards": 1}, "mappings": mapping}
        answer = requests.put(f"{self.address}/{index}", json=body, timeout=30)
        assert answer.ok, answer.text

    def write(self, index: str, documents: Iterable[Mapping[str, Any]]) -> None:
        """Store documents, given by dotted field names, and make them searchable."""
        lines = [line for one in documents for line in ('{"index":{}}', json.dumps(nested(one)))]
        if not lines:
            return
        headers = {"Content-Type": "application/x-ndjson"}
        url = f"{self.address}/{index}/_bulk?refresh=true"
        answer = requests.post(url, data="\n".join([*lines, ""]), headers=headers, timeout=60)
        assert answer.ok, answer.text
        assert not answer.json()["errors"], answer.text[:500]


@contextmanager
def search_server(root: Path, product: Product) -> Iterator[SearchServer]:
    """A running, empty server; the test is skipped where Java or the distribution cannot be had."""
    home, java = _home(product), shutil.which("java")
    if java is None:
        pytest.skip("no java on the path")
    port = free_port()
    (root / "conf").mkdir()
    text = _CONFIGURATION.format(root=root, http=port, transport=free_port())
    (root / "conf" / f"{product.name}.yml").write_text(text)
    shutil.copy(home / "config" / "log4j2.properties", root / "conf")
    address = f"http://127.0.0.1:{port}"
    command = [java, *_options(product, home, root), "-cp", f"{home}/lib/*", product.main]
    server = Component(product.name, command, root / "out.log", lambda: _is_ready(address))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LIBFFI_TMPDIR", str(root))
        server.start()
    try:
        yield SearchServer(address)
    finally:
        server.stop(gracefully=False)  # nothing in it is worth the wait


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """``{"a.b": 1}`` as ``{"a": {"b": 1}}``."""
    found: dict[str, Any] = {}
    for name, value in flat.items():
        *above, last = name.split(".")
        place = found
        for step in above:
            place = place.setdefault(step, {})
        place[last] = value
    return found


def _properties(fields: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, kind in fields.items():
        *above, last = name.split(".")
        place = found
        for step in above:
            place = place.setdefault(step, {"properties": {}})["properties"]
        place[last] = {"type": kind}
    return found


def _options(product: Product, home: Path, root: Path) -> list[str]:
    # Without its native library the server cannot tell that it runs as root, which it would refuse in a container.
    no_natives = ["-Djna.nounpack=true", "-Djna.nosys=true", f"-Djna.boot.library.path={root}/none"]
    named = {"path.home": home, "path.conf": root / "conf", "distribution.type": "zip"}
    properties = [f"-D{product.prefix}.{name}={value}" for name, value in named.items()]
    heap = ["-Xms384m", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return [*heap, *no_natives, "-Djava.security.manager=allow", f"-Djava.io.tmpdir={root}", *properties]


def _is_ready(address: str) -> bool:
    try:
        answer = requests.get(f"{address}/_cluster/health", timeout=5)
        return answer.ok and answer.json()["status"] in ("green", "yellow")
    except (requests.RequestException, ValueError):
        return False


def _home(product: Product) -> Path:
    """The unpacked distribution, brought by Maven once per machine."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rescheduler" / "search-servers"
    home = caches / f"{product.name}-{product.version}"
    if home.is_dir():
        return home
    maven = shutil.which("mvn")
    if maven is None:
        pytest.skip(f"no {home.name} in the cache, and no mvn on the path to bring it")
    caches.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=caches) as folder:
        _download(maven, product, Path(folder))
        archive = next(Path(folder).glob("*.zip"), None)
        if archive is None:
            pytest.skip(f"Maven brought no {home.name}")
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(folder)
        unpacked = next(Path(folder).glob(f"{product.name}-*/")).resolve()
        if not home.is_dir():
            unpacked.rename(home)
    return home


def _download(maven: str, product: Product, folder: Path) -> None:
    artifact = f"{product.group}:{product.name}:{product.version}:zip"
    command = [maven, "-B", "-q", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=_DOWNLOAD_SECONDS, cwd=folder)
    except (subprocess.SubprocessError, OSError):
        pytest.skip(f"Maven could not bring {artifact}; see mvn -B dependency:copy -Dartifact={artifact}")
