"""Another site in the same browser, which tries to read the daemon's page and to press its buttons."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.browser.browser import Browser
from tests.browser.page_look import until

ATTACK = """<!DOCTYPE html><title>hostile</title><script>
var done = [];
function count(name) { return function () { done.push(name); }; }
var url = "%s";
var post = {method: "POST", mode: "no-cors", body: '{"reason": "x"}'};
fetch(url + "v1/pause", post).then(count("fetch"), count("fetch"));
fetch(url + "session", {method: "POST", headers: {"X-Rescheduler-Secret": "x"}}).then(count("read"), count("refused"));
fetch(url).then(function (a) { return a.text(); }).then(count("read"), count("refused"));
var frame = document.createElement("iframe"); frame.src = url; frame.onload = count("frame");
document.documentElement.append(frame);
var form = document.createElement("form"); form.method = "post"; form.action = url + "v1/pause"; form.target = "hidden";
var goal = document.createElement("iframe"); goal.name = "hidden";
document.documentElement.append(goal, form); form.submit();
</script>"""


@contextmanager
def site(text: str) -> Iterator[str]:
    """Another site on this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def attack(browser: Browser, address: str) -> None:
    """Posts, forms and frames against the page at an address; nothing of it may be read."""
    with site(ATTACK % address) as evil:
        browser.open(evil, width=1280)
        until(browser, "done.filter(e => e !== 'frame').length >= 3")
        assert "read" not in browser.value("done")
