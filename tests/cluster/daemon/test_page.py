"""The page of a real daemon on a real cluster: what nobody, a viewer and an approver see, and a plan approved on it."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
import yaml

from tests.browser.browser import Browser, found_browser
from tests.browser.hostile_site import attack
from tests.browser.page_look import LAPTOP, LOADED, TOLD, enter, named, shown, tab_to, tree, until
from tests.browser.page_look import printed as on_paper
from tests.cluster.cluster import Cluster
from tests.cluster.daemon.test_approval import POLICY, proposed
from tests.cluster.daemon_process import daemon
from tests.cluster.plane.ports import free_port
from tests.cluster.rest_client import bind, token_of
from tests.cluster.scenes import fragmented
from tests.cluster.shapes import pod
from tests.cluster.tool import Tool
from tests.paths import DEPLOY
from tests.unit.daemon.page.looks import shown as text_of
from tests.unit.daemon.page.test_answers import QUESTIONS

SYSTEM = "default"


class Page(NamedTuple):
    """Status and text."""

    status: int
    text: str


def get(url: str, headers: Mapping[str, str], method: str = "GET", target: str = "/", body: str | None = None) -> Page:
    """One request as a browser would send it."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=60)
    try:
        connection.request(method, target, body, {"Origin": url, **headers})
        answer = connection.getresponse()
        return Page(answer.status, answer.read().decode())
    finally:
        connection.close()


@pytest.fixture
def tokens(cluster: Cluster) -> dict[str, str]:
    """Tokens of accounts with the roles of deploy/api.yaml, and of one without any."""
    for manifest in yaml.safe_load_all((DEPLOY / "api.yaml").read_text()):
        cluster.api.apply(manifest)
    for name in ("viewer", "approver", "nobody"):
        metadata = {"name": name, "namespace": SYSTEM}
        cluster.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    bind(cluster, "rescheduler-viewer", "viewer", SYSTEM)
    bind(cluster, "rescheduler-approver", "approver", SYSTEM)
    return {name: token_of(cluster, name, SYSTEM) for name in ("viewer", "approver", "nobody")}


@contextmanager
def ui(tool: Tool, *arguments: str) -> Iterator[str]:
    """``rescheduler ui`` with a token that kubectl creates; the address that it prints."""
    command = [sys.executable, "-m", "rescheduler", "ui", "--kubeconfig", str(tool.kubeconfig)]
    command += ["--namespace", SYSTEM, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        printed = process.stdout.readline().strip()
        assert printed, process.stderr and process.stderr.read()
        yield printed
    finally:
        process.terminate()
        process.communicate(timeout=20)


def opened(printed: str) -> tuple[str, dict[str, str]]:
    """The address of a page, and the headers that its script sends."""
    address, _, secret = printed.partition("/#")
    key = json.loads(get(address, {"X-Rescheduler-Secret": secret}, "POST", "/session", "").text)["key"]
    return address, {"X-Rescheduler-Key": key, "Content-Type": "application/json"}


def test_the_page_of_a_real_daemon_from_the_plan_that_waits_to_its_end(
    cluster: Cluster, tool: Tool, tokens: dict[str, str], tmp_path: Path
) -> None:
    """Nobody gets 403, a viewer sees and has no button, an approver approves through ``rescheduler ui``; and the next
    process knows of it."""
    fragmented(cluster)
    url = f"http://127.0.0.1:{free_port()}"
    audit = f"audit: {{file: '{tmp_path}/audit.jsonl'}}"
    policy = tool.policy(POLICY + f"api: {{address: '{url.removeprefix('http://')}'}}\n{audit}")
    with daemon(tool, "--policy", policy) as process:
        number = proposed(process)
        pages = {name: get(url, {"Authorization": f"Bearer {token}"}) for name, token in tokens.items()}
        assert {name: page.status for name, page in pages.items()} == {"viewer": 200, "approver": 200, "nobody": 403}
        assert get(url, {}).status == 401
        assert "<button" not in pages["viewer"].text
        assert {">Approve</button>", ">Pause</button>"} <= set(re.findall(r">\w+</button>", pages["approver"].text))
        told = text_of(pages["viewer"].text)
        for text in (
            f"Plan {number} waits until",
            "Approve: evicts after a person's yes",
            "the plan gives it",
            "MakeRoom",
        ):
            assert text in told
        with ui(tool, "--server", url, "--account", "approver", "--allow", "approve") as printed:
            address, key = opened(printed)
            page = get(address, key).text
            target, tag = re.findall(r'data-post="(/v1/plans/[^"]*)" data-match="([^"]*)"', page)[0]
            assert get(address, key, "POST", "/v1/pause", '{"reason": "x"}').status == 403
            assert get(address, {**key, "If-Match": f'"{tag}"'}, "POST", target, "{}").status == 200
            assert process.wait_for("round ended", outcome="done")["plan"] == number
            after = text_of(get(address, key).text)
        assert "system:serviceaccount:default:approver" in after
        assert re.search(r"Did the last plan keep its promise\?\s+Yes\s+2 of 2 moves landed", after)
        moved = re.search(r"What moved in the last hour\?\s+(.*)", after)
        assert moved is not None
        assert moved.group(1).strip() == "2 pods", " ".join(after.split())[:3000]
        assert "2 settled" in after
        cluster.wait_pods_running(13)
        assert process.stop() == 0
    with daemon(tool, "--policy", policy) as process:
        process.wait_for("leading", is_leader=True)
        again = text_of(get(url, {"Authorization": f"Bearer {tokens['viewer']}"}).text)
        assert re.search(r"Did the last plan keep its promise\?\s+Yes\s+2 of 2 moves landed", again)
        assert re.search(r"Who approved\?\s+system:serviceaccount:default:approver", again)
        assert "carried out; approved by system:serviceaccount:default:approver" in again
        assert "the policy's mode is Approve" in again  # the round that made the plan carried nothing out
        assert process.stop() == 0


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser with a fresh profile."""
    with found_browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


def test_in_a_browser_each_sees_and_does_what_his_account_may(
    cluster: Cluster, tool: Tool, tokens: dict[str, str], browser: Browser
) -> None:
    """Nobody is told which right he lacks, a viewer reads ten answers without a button on a laptop and a phone, an
    approver prints the plan, a hostile page beside him does nothing, and he lets the plan be carried out with keys
    alone; each with a token that kubectl creates for his account."""
    assert set(tokens) == {"viewer", "approver", "nobody"}
    fragmented(cluster)
    url = f"http://127.0.0.1:{free_port()}"
    policy = tool.policy(POLICY + f"api: {{address: '{url.removeprefix('http://')}'}}\n")
    with daemon(tool, "--policy", policy) as process:
        number = proposed(process)
        with ui(tool, "--server", url, "--account", "nobody", "--allow", "approve,pause") as printed:
            browser.open("about:blank", width=1280)
            browser.open(printed, width=1280)
            until(browser, f"{TOLD}.includes('may not get state')")
            assert not browser.value(LOADED)
        for screen in (LAPTOP, (390, 844)):
            with ui(tool, "--server", url, "--account", "viewer", "--allow", "approve,pause") as printed:
                shown(browser, printed, screen)
                nodes = tree(browser)
                assert set(named(nodes, "region")) >= QUESTIONS
                assert named(nodes, "button") == {}
                assert number in browser.value("document.querySelector('main').innerText")
                assert browser.value("document.documentElement.scrollWidth") == screen[0]
                assert browser.complaints == []
        with ui(tool, "--server", url, "--account", "approver", "--allow", "approve,pause") as printed:
            shown(browser, printed)
            with on_paper(browser):
                assert browser.value("getComputedStyle(document.querySelector('form')).display") == "none"
                assert number in browser.value("document.querySelector('main').innerText")
            attack(browser, printed.partition("#")[0])
        assert process.events("paused") == process.events("approval given") == []
        with ui(tool, "--server", url, "--account", "approver", "--allow", "approve,pause") as printed:
            _approve_with_keys(browser, printed, number)
            assert process.wait_for("round ended", outcome="done")["plan"] == number
            browser.value("location.reload()")
            until(browser, f"{LOADED} && document.querySelector('main').innerText.includes('2 of 2 moves landed')")
            assert "system:serviceaccount:default:approver" in browser.value("document.querySelector('main').innerText")
        assert process.stop() == 0


def _approve_with_keys(browser: Browser, printed: str, number: str) -> None:
    """Pause and resume it, then approve, without a mouse."""
    shown(browser, printed)
    assert {"Approve", "Pause"} <= set(named(tree(browser), "button"))
    tab_to(browser, "document.activeElement.name === 'reason'")
    browser.call("Input.insertText", text="a look first")
    tab_to(browser, "document.activeElement.textContent === 'Pause'")
    enter(browser)
    until(browser, f"{TOLD} === 'Paused: nothing is carried out.'")
    tab_to(browser, "document.activeElement.textContent === 'Resume'")
    enter(browser)
    until(browser, f"{TOLD} === 'Resumed.'")
    tab_to(browser, "document.activeElement.textContent === 'Approve'")
    enter(browser)
    until(browser, f"{TOLD} === 'Approved plan {number}.'")


def test_through_a_port_that_kubectl_forwards(
    cluster: Cluster, tool: Tool, tokens: dict[str, str], browser: Browser
) -> None:
    """As ``kubectl reschedule ui`` goes by default: kubectl's forwarded port and kubectl's token, to a pod's node."""
    assert "viewer" in tokens
    plane = cluster.control_plane
    cluster.add_nodes(1)
    kubelet = {"kubeletEndpoint": {"Port": plane.kubelet_port}}
    addresses = [{"type": "InternalIP", "address": "127.0.0.1"}]  # without a host name, which nothing resolves
    status = {"status": {"addresses": addresses, "daemonEndpoints": kubelet}}
    cluster.api.patch("nodes", "node-0", status, subresource="status")
    cluster.create(pod("rescheduler", spec={"nodeName": "node-0"}))
    cluster.wait_pods_running(1)
    policy = tool.policy(POLICY + f"api: {{address: '127.0.0.1:{plane.forwarded_port}'}}\n")
    with daemon(tool, "--policy", policy) as process:
        process.wait_for("leading", is_leader=True)
        with ui(tool, "--account", "viewer", "--target", "pod/rescheduler") as printed:
            shown(browser, printed)
            assert set(named(tree(browser), "region")) >= QUESTIONS
            browser.value("location.reload()")
            until(browser, LOADED)
        assert process.stop() == 0
