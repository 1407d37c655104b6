"""Every command that a page shows, with what the page shows of its answer, and how a test runs it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from tests.paths import ROOT
from tests.unit.docs.pages import DOCS, PAGES, blocks

RECORDING: Final = "docs/examples/small.json"
ANSWERED: Final = ROOT / "README.md"
OPERATIONS: Final = DOCS / "operations.md"


class Command(NamedTuple):
    """One command of a page, its lines joined, without the prompt; ``shown``: the lines of its answer there."""

    page: str
    text: str
    shown: tuple[str, ...]

    @property
    def bare(self) -> str:
        """Without what stands behind a #."""
        return re.sub(r"\s+# .*$", "", self.text)


class Way(Enum):
    """How a test runs a command."""

    AS_IT_STANDS = "as it stands"
    ON_THE_RECORDING = "here on a recording of a cluster, on a real control plane as it stands"
    ON_A_CLUSTER = "on a real control plane only"
    NOT_HERE = "not by the tests of pages"


class Rule(NamedTuple):
    """How the commands that begin so are run; ``why``: the test that covers what is not run, or the reason.

    ``page``: the only one of which it holds.
    """

    begins: str
    way: Way
    why: str = ""
    page: str = ""

    def fits(self, command: Command) -> bool:
        """Whether it says how this command is run."""
        return command.text.startswith(self.begins) and self.page in ("", command.page)


RULES: Final = (
    Rule("", Way.NOT_HERE, "runbooks are carried out by tests/cluster/telemetry/test_alerts.py", OPERATIONS.name),
    Rule("make e2e", Way.NOT_HERE, "the target itself runs tests/cluster/daemon/test_page_commands.py"),
    Rule("make ", Way.NOT_HERE, "sets up an environment of its own; the target exists: tests/unit/docs/test_readme.py"),
    Rule("docker ", Way.NOT_HERE, "needs a registry and Docker; the file is read by tests/unit/deploy/test_image.py"),
    Rule("helm ", Way.NOT_HERE, "the chart is rendered and run by tests/cluster/rights/test_chart.py"),
    Rule("kubectl apply", Way.NOT_HERE, "manifests are applied by tests/cluster/rights/test_rights.py"),
    Rule("kubectl annotate namespace", Way.NOT_HERE, "the annotation is set by tests/cluster/faults/test_ledger.py"),
    Rule("kubectl annotate -n rescheduler-holds", Way.NOT_HERE, "tests/unit/adapters/kubernetes/ledger/test_ledger.py"),
    Rule("kubectl -n rescheduler-holds annotate", Way.NOT_HERE, "set by tests/cluster/daemon/test_approval.py"),
    Rule("kubectl create clusterrolebinding rescheduler-approver", Way.NOT_HERE, "tests/cluster/daemon/test_page.py"),
    Rule("kubectl reschedule ui", Way.NOT_HERE, "goes on until stopped: tests/unit/cli/commands/looking/test_ui.py"),
    Rule("rescheduler ui", Way.NOT_HERE, "goes on until stopped: tests/unit/cli/commands/looking/test_ui.py"),
    Rule("kubectl -n rescheduler-system", Way.NOT_HERE, "needs a pod; see tests/cluster/daemon/test_approval.py"),
    Rule("TOKEN=", Way.NOT_HERE, "needs a pod; see tests/cluster/rights/test_access_reviews.py"),
    Rule("curl ", Way.NOT_HERE, "sent by tests/cluster/daemon/test_approval.py"),
    Rule("kubectl get -A", Way.NOT_HERE, "the kinds are those that are read: tests/unit/docs/test_recording_line.py"),
    Rule("touch ", Way.NOT_HERE, "a system's path; the file is read by tests/unit/adapters/files/test_stop_file.py"),
    Rule("rescheduler watcher", Way.NOT_HERE, "needs a source of load: tests/cluster/load/test_watcher_live.py"),
    Rule("rescheduler top", Way.NOT_HERE, "needs a source of load: tests/cluster/load/test_watcher_live.py"),
    Rule("jq ", Way.NOT_HERE, "needs jq; what it leaves: tests/unit/deploy/test_chart_descheduler.py"),
    Rule("kubectl logs", Way.NOT_HERE, "needs a deployed pod: tests/cluster/descheduler/test_descheduler_policy.py"),
    Rule("rescheduler costs", Way.NOT_HERE, "its price file stands further above: tests/unit/cli/plans/test_prices.py"),
    Rule("rescheduler plan --prices", Way.NOT_HERE, "its prices stand above: tests/unit/cli/plans/test_what_if.py"),
    Rule("rescheduler apply", Way.ON_A_CLUSTER),
    Rule("rescheduler run", Way.ON_A_CLUSTER),
    Rule("rescheduler doctor", Way.ON_A_CLUSTER),
    Rule("rescheduler snapshot", Way.ON_A_CLUSTER),
    Rule("rescheduler check", Way.AS_IT_STANDS),
    Rule("rescheduler policy", Way.AS_IT_STANDS),
    Rule("rescheduler diff", Way.AS_IT_STANDS),
    Rule("rescheduler demo", Way.AS_IT_STANDS),
    Rule("rescheduler simulate", Way.AS_IT_STANDS),
    Rule("rescheduler plan", Way.ON_THE_RECORDING),
    Rule("rescheduler explain", Way.ON_THE_RECORDING),
    Rule("rescheduler score", Way.ON_THE_RECORDING),
    Rule("rescheduler schedule", Way.ON_THE_RECORDING),
)  # fmt: skip
"""The first that fits counts; a command that none fits fails the tests."""


def rule_of(command: Command) -> Rule | None:
    """How a command is run; one that names its recording needs no cluster."""
    found = next((rule for rule in RULES if rule.fits(command)), None)
    if found is not None and found.way is Way.ON_THE_RECORDING and re.search(r" -f \S", command.text):
        return found._replace(way=Way.AS_IT_STANDS)
    return found


def commands() -> list[Command]:
    """Those of the README and all pages, each once per page."""
    found = {(one.page, one.bare): one for page in (ANSWERED, *PAGES) for one in _of(page)}
    return list(found.values())


def runbook(alert: str) -> str:
    """The commands of an alert's runbook, word for word, in their order."""
    return "".join(block.text for block in blocks(OPERATIONS, "sh") if block.heading == alert)


def _of(page: Path) -> Iterator[Command]:
    for block in blocks(page, "sh"):
        for line in _joined(block.text):
            if not line.startswith("#"):
                yield Command(page.name, line, ())
    for block in blocks(page, "console"):
        lines = _joined(block.text)
        starts = [at for at, line in enumerate(lines) if line.startswith("$ ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            yield Command(page.name, lines[start].removeprefix("$ "), tuple(lines[start + 1 : end]))


def _joined(text: str) -> list[str]:
    """Lines, a command that goes on behind a backslash as one."""
    return re.sub(r"\s*\\\n\s*", " ", text).splitlines()


def on_recording(command: str) -> str:
    """The same command for the recording in place of the live cluster."""
    return re.sub(
        r"(rescheduler (?:plan|explain|score|schedule)\b[^;>]*?)\s*(?=[;>]|$)", rf"\1 -f {RECORDING} ", command
    )


def written(command: str) -> list[str]:
    """Files that a command writes; none of them may be there before."""
    words = shlex.split(command.replace(";", " ; "))
    named = [after for word, after in pairwise(words) if word in (">", "-o")]
    return [name for name in named if "." in name]


def prepared(folder: Path) -> None:
    """What pages take as given: the repository's files, a policy, plans and recordings."""
    for name in ("docs", "policies", "deploy"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "policy.yaml").write_text((ROOT / "policies" / "pending-only.yaml").read_text())
    (folder / "descheduler.yaml").write_text(DESCHEDULER)
    (folder / "load.json").write_text(json.dumps(LOAD))


DESCHEDULER: Final = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: default
  pluginConfig: [{name: RemoveDuplicates}]
  plugins: {balance: {enabled: [RemoveDuplicates]}}
"""
_METRICS: Final = [
    {"type": kind, "operator": "AVG", "rollup": "AVG", "value": value} for kind, value in (("CPU", 40), ("Memory", 30))
]
LOAD: Final = {
    "timestamp": 1768478264,
    "window": {"duration": "15m", "start": 1768477364, "end": 1768478264},
    "source": "test",
    "data": {"NodeMetricsMap": {f"worker-{at}": {"metrics": _METRICS} for at in range(1, 7)}},
}
"""Of the nodes of the recording, as of its time."""
