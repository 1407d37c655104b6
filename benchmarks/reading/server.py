"""A loopback server that lists pods and nodes page by page, in a process of its own."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

from benchmarks.reading.data import node_pages, pod_pages
from tests.loopback_server import PromptAnswers

_EMPTY = b'{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}'


class Pages(PromptAnswers, BaseHTTPRequestHandler):
    """Serves what ``pages`` holds: the continue token is the number of objects already sent."""

    pages: ClassVar[dict[str, dict[str, bytes]]] = {}

    def do_GET(self) -> None:
        """One page, the version, or an empty list for every other kind; a watch of any kind tells nothing."""
        asked = urlsplit(self.path)
        query = parse_qs(asked.query)
        if "watch" in query:
            self._watch(is_streamed_list="sendInitialEvents" in query)
            return
        body = b'{"gitVersion":"v1.36.3"}' if asked.path == "/version" else _EMPTY
        token = query.get("continue", [""])[0]
        if asked.path in self.pages:
            body = self.pages[asked.path][token]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _watch(self, *, is_streamed_list: bool) -> None:
        """Lists are not streamed here; a watch goes on until the client has enough of it."""
        self.send_response(422 if is_streamed_list else 200)
        self.send_header("Content-Length", "2" if is_streamed_list else "1000000")
        self.end_headers()
        if is_streamed_list:
            self.wfile.write(b"{}")
        else:
            self.close_connection = True
            self.rfile.read(1)


@contextmanager
def served(pods: int, nodes: int, seed: int) -> Iterator[tuple[str, int]]:
    """The server's address and how many bytes it holds."""
    command = [sys.executable, "-m", "benchmarks.reading.server", "--pods", str(pods), "--nodes", str(nodes)]
    with subprocess.Popen([*command, "--seed", str(seed)], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port, *sizes = (int(word) for word in server.stdout.readline().split())
            yield f"http://127.0.0.1:{port}", sum(sizes)
        finally:
            server.kill()


def main() -> None:
    """Make the data, print the port, serve until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, required=True)
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    pods = list(pod_pages(arguments.pods, arguments.nodes, arguments.seed))
    nodes = list(node_pages(arguments.nodes, arguments.seed))
    Pages.pages = {"/api/v1/pods": _by_token(pods), "/api/v1/nodes": _by_token(nodes)}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    print(server.server_port, sum(map(len, pods)), sum(map(len, nodes)), flush=True)
    server.serve_forever()


def _by_token(pages: list[bytes]) -> dict[str, bytes]:
    return {"" if number == 0 else str(number * 500): page for number, page in enumerate(pages)}


if __name__ == "__main__":
    main()
