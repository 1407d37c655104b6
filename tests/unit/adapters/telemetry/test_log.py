"""The log of a daemon: one line a decision, JSON off a terminal, and nothing in it that nobody should see."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from rescheduler.adapters.telemetry.log import QUIET_LIBRARIES, DecisionLog, configure_logging
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.model.daemon.notices import Fault, Notice, PolicyLoaded, RoundEnded, Started, TriggerFired
from rescheduler.model.daemon.rounds import Occasion
from rescheduler.model.plan.plan import PodReference, Refusal
from tests.builders import NOW
from tests.unit.adapters.telemetry.daemon_notices import all_notices, dry_round, plan, report
from tests.unit.adapters.telemetry.logs import logging_to

EVENTS = [
    "started", "policy loaded", "trigger fired", "round ended", "eviction sent", "leading", "defaults bind",
    "server lacks", "policy kept", "policy held",
    "policy acknowledged", "approval wanted", "approval given", "approval ended",
    "paused", "resumed",
    "capacity requested", "nodes offered",
    "watch out of sync", "objects set aside", "nominated without a plan", "fault", "stopping",
]  # fmt: skip


class Terminal(io.StringIO):
    """A stream that a person sees."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.fixture
def out() -> io.StringIO:
    """Where lines go."""
    return io.StringIO()


@pytest.fixture
def log(out: io.StringIO) -> Iterator[DecisionLog]:
    """A log from info on, as machines read it."""
    with logging_to(out) as found:
        yield found


def lines(out: io.StringIO) -> list[dict[str, Any]]:
    """Each line decoded."""
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_there_is_a_line_for_every_kind_of_notice() -> None:
    """A notice that is added has to be told of."""
    assert {type(notice) for notice in all_notices()} == set(get_args(Notice))


def test_every_notice_is_one_line(log: DecisionLog, out: io.StringIO) -> None:
    """Each of them JSON with a time, a level and a few fixed words."""
    for notice in all_notices():
        log.hear(notice)
    found = lines(out)
    assert [line["event"] for line in found] == EVENTS
    assert all(list(line)[:3] == ["timestamp", "level", "event"] for line in found)
    levels = {line["event"]: line["level"] for line in found}
    assert {event for event, level in levels.items() if level == "error"} == {"fault"}
    warned = {event for event, level in levels.items() if level == "warning"}
    assert warned == {
        "server lacks", "policy kept", "policy held", "paused", "watch out of sync", "objects set aside",
        "nominated without a plan",
    }  # fmt: skip


def test_a_round_tells_why_it_ran_what_it_planned_and_what_is_proven(log: DecisionLog, out: io.StringIO) -> None:
    """On one line, with the plan's id and value, bound and gap of each objective."""
    log.hear(RoundEnded(NOW, report()))
    (line,) = lines(out)
    assert line["triggers"] == ["Schedule"]
    assert (line["round"], line["plan"], line["planned"], line["helped"], line["outcome"]) == (7, "p-7", 1, 1, "done")
    assert line["outcomes"] == {"Landed": 1}
    assert line["objectives"] == [
        {"name": "MakeRoom", "status": "OPTIMAL", "value": 1, "bound": 1, "gap": 0.0, "unit": "evictions",
         "helped": 1, "wanted": 1},
    ]  # fmt: skip
    assert (line["seconds"], line["steps"]["plan"]) == (2.5, 1.0)
    assert "dry_run" not in line


def test_a_round_without_a_plan_is_a_warning_with_its_reason(log: DecisionLog, out: io.StringIO) -> None:
    """It is what somebody searches for first."""
    log.hear(RoundEnded(NOW, report(plan=None, result=None, plan_id="", reason="the API server is down")))
    (line,) = lines(out)
    assert (line["level"], line["outcome"], line["reason"]) == ("warning", "failed", "the API server is down")


def test_every_line_of_a_dry_run_says_so(log: DecisionLog, out: io.StringIO) -> None:
    """Lines of libraries too; and none after another mode came in force."""
    log.hear(Started(NOW, "1", "DryRun", "abc"))
    log.hear(dry_round())
    logging.getLogger("some.library").warning("something")
    assert [line.get("dry_run") for line in lines(out)] == [True, True, True]
    log.hear(PolicyLoaded(NOW, "abd", "p", "Execute"))
    log.hear(Fault(NOW, "x", "y"))
    assert [line.get("dry_run") for line in lines(out)[3:]] == [None, None]


def test_moves_and_refusals_are_told_only_to_those_who_look_closely(out: io.StringIO) -> None:
    """At debug a line for each; a planned move is never called an eviction."""
    with logging_to(out, "debug") as log:
        log.hear(dry_round())
    found = lines(out)
    assert [line["event"] for line in found] == ["round ended", "move planned", "place planned", "left alone"]
    assert all(line["dry_run"] is True and line["plan"] == "p-7" for line in found)
    assert (found[1]["pod"], found[1]["from_node"], found[1]["to_node"]) == ("default/web-0", "n1", "n2")
    assert (found[3]["pod"], found[3]["rule"]) == ("kube-system/dns", "Namespace")
    assert "evict" not in json.dumps([line["event"] for line in found])


def test_of_very_many_refusals_the_first_are_told(out: io.StringIO) -> None:
    """And how many more there are: the loop waits while lines are written."""
    many = plan(refusals=tuple(Refusal("Namespace", "", node=f"n{number}") for number in range(3000)))
    with logging_to(out, "debug") as log:
        log.hear(RoundEnded(NOW, report(plan=many)))
    found = lines(out)
    assert [line["event"] for line in found].count("left alone") == 1000
    assert (found[-1]["event"], found[-1]["count"]) == ("more left alone", 2000)


def test_the_level_holds(out: io.StringIO) -> None:
    """At error only errors are written."""
    with logging_to(out, "error") as log:
        for notice in all_notices():
            log.hear(notice)
    assert [line["event"] for line in lines(out)] == ["fault"]


def test_names_cannot_break_lines_or_colour_terminals(log: DecisionLog, out: io.StringIO) -> None:
    """Neither in JSON nor in words; a name of another script stays as it is."""
    pod = PodReference("default", 'a\x1b[31m\n{"level":"error"}\u202e', "u")
    occasion = Occasion("PendingPods", "żółw\x00", NOW, pods=(pod,))
    log.hear(TriggerFired(NOW, occasion))
    (line,) = lines(out)
    assert line["pods"] == ['default/a\\x1b[31m\\n{"level":"error"}\\u202e']
    assert line["reason"] == "żółw\\x00"
    words = io.StringIO()
    with logging_to(words, as_json=False) as other:
        other.hear(TriggerFired(NOW, occasion))
    assert words.getvalue().count("\n") == 1
    assert "\x1b" not in words.getvalue()
    assert "\u202e" not in words.getvalue()


def test_very_long_texts_are_cut(log: DecisionLog, out: io.StringIO) -> None:
    """A line stays readable; lists of pods name the first and tell the number."""
    pods = tuple(PodReference("default", f"p{number}", "") for number in range(1000))
    log.hear(TriggerFired(NOW, Occasion("PendingPods", "x" * 100_000, NOW, pods=pods)))
    (line,) = lines(out)
    assert (line["pod_count"], len(line["pods"])) == (1000, 5)
    assert len(out.getvalue()) < 3000


def test_on_a_terminal_lines_are_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """With colour, unless NO_COLOR is set."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured, plain = Terminal(), Terminal()
    with logging_to(coloured) as log:
        log.hear(dry_round())
    monkeypatch.setenv("NO_COLOR", "1")
    with logging_to(plain) as log:
        log.hear(dry_round())
    assert "\x1b[" in coloured.getvalue()
    assert "\x1b[" not in plain.getvalue()
    assert "round ended round=7 outcome=planned triggers=Schedule" in plain.getvalue()
    assert "dry_run=True" in plain.getvalue()


def test_libraries_lines_come_out_in_the_same_form(log: DecisionLog, out: io.StringIO) -> None:
    """With the name of the library; its debug lines never."""
    logging.getLogger("some.library").info("hello %s", "world")
    logging.getLogger("some.library").debug("chatter")
    (line,) = lines(out)
    assert (line["event"], line["level"], line["logger"]) == ("hello world", "info", "some.library")


@pytest.mark.parametrize("name", ["urllib3", "kubernetes.client.rest", "httpx", "opentelemetry.exporter", "requests"])
def test_http_libraries_are_never_verbose(out: io.StringIO, name: str) -> None:
    """Whatever the level of the log and of their own loggers: their debug lines hold headers."""
    assert name.partition(".")[0] in QUIET_LIBRARIES
    logger = logging.getLogger(name)
    before = logger.level
    try:
        with logging_to(out, "debug"):
            logger.setLevel(logging.DEBUG)
            logger.debug("header: Authorization: Bearer abcdefgh")
            logger.info("connection to host")
            logger.warning("retrying")
    finally:
        logger.setLevel(before)
    assert [line["event"] for line in lines(out)] == ["retrying"]


def test_secrets_are_taken_out_before_a_text_is_cut(out: io.StringIO) -> None:
    """No half of one is left at the end of a long text; tracebacks are looked through too."""
    hide = Redaction(lambda text: text.replace("marked-token", "***"))
    with logging_to(out, hide=hide) as log:
        log.hear(Fault(NOW, "x", "y" * 1993 + "marked-token"))
        error = ValueError("sent marked-token")
        logging.getLogger("some.library").error("failed with marked-token", exc_info=error)
    assert "marked" not in out.getvalue()
    assert lines(out)[1]["exception"] == "ValueError: sent ***"


def test_a_reader_who_has_gone_is_no_error(log: DecisionLog, out: io.StringIO) -> None:
    """The daemon goes on; so it does when the disk of its log is full."""
    out.close()
    log.hear(dry_round())


def test_a_thread_that_ends_by_a_fault_is_a_line(log: DecisionLog, out: io.StringIO) -> None:
    """Instead of a raw traceback on standard error."""

    def fail() -> None:
        raise RuntimeError("secret words")

    thread = threading.Thread(target=fail, name="reflector")
    thread.start()
    thread.join()
    (line,) = lines(out)
    assert line["event"] == "a thread has ended by a fault: RuntimeError in reflector"
    assert "secret words" not in out.getvalue()


def test_closing_puts_logging_back(out: io.StringIO) -> None:
    """Handlers, levels and hooks are as before."""
    root, hook = logging.getLogger(), threading.excepthook
    before = (root.level, list(root.handlers), hook)
    configure_logging("debug", out).close()
    assert (root.level, list(root.handlers), threading.excepthook) == before


def test_many_threads_write_whole_lines(log: DecisionLog, out: io.StringIO) -> None:
    """Notices come from the loop, the lease and the reflectors at once."""
    threads = [threading.Thread(target=lambda: [log.hear(dry_round()) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lines(out)) == 80


def test_a_round_with_an_empty_plan_says_nothing_was_to_do(log: DecisionLog, out: io.StringIO) -> None:
    """Empty fields are left out of the line."""
    empty = plan(moves=(), placements=(), refusals=(), objectives=())
    log.hear(RoundEnded(NOW, report(plan=empty, result=None, reason="the plan is empty", plan_id="")))
    (line,) = lines(out)
    assert (line["outcome"], line["reason"], line["planned"]) == ("nothing", "the plan is empty", 0)
    assert "plan" not in line
    assert "objectives" not in line
