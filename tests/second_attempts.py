"""Tests that failed and were run again: each first failure is told, and more than a few of them fail the run."""

from __future__ import annotations

from typing import Final

import pytest

MOST: Final = 5
"""One wait in a hundred may run out while a control plane and its tests share two processors; more are a fault."""


class SecondAttempts:
    """Listens to the reports of one run; which tests get a second attempt is for ``--reruns`` to say."""

    def __init__(self) -> None:
        self._first: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a failure after which the test is run again."""
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # pytest-rerunfailures' own
            self._first.append(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run in which too many tests needed it."""
        if len(self._first) > MOST and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print why each first attempt failed, with the logs that were kept of it."""
        if not self._first:
            return
        terminalreporter.section(f"second attempts: {len(self._first)} (a run may need {MOST})")
        for report in self._first:
            terminalreporter.section(report.nodeid, sep="-")
            terminalreporter.line(report.longreprtext)
            for title, text in report.sections:
                terminalreporter.section(title, sep=".")
                terminalreporter.line(text)


def pytest_configure(config: pytest.Config) -> None:
    """Listen in the process that sees all reports; a conftest imports this."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(SecondAttempts())
