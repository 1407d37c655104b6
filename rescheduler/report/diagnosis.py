"""What would keep the rescheduler from working on a cluster, each finding with its fix; as data and as lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.plan.plan import API_VERSION
from rescheduler.report.cells import cell, hanging, plural


class Diagnosed(Struct, frozen=True):
    """One thing that was found. ``blocks``: under this policy it keeps the rescheduler from working."""

    rule: str
    object: str
    message: str
    fix: str
    blocks: bool = False


class Diagnosis(Struct, frozen=True, rename="camel"):
    """All that was found on one cluster, what blocks first."""

    findings: tuple[Diagnosed, ...] = ()
    api_version: str = API_VERSION
    kind: str = "Diagnosis"

    @property
    def is_blocked(self) -> bool:
        """Whether something must be mended first."""
        return any(finding.blocks for finding in self.findings)


def diagnosis_of(findings: Iterable[Diagnosed]) -> Diagnosis:
    """What blocks first, else in the order given."""
    return Diagnosis(tuple(sorted(findings, key=lambda finding: not finding.blocks)))


def diagnosis_report(found: Diagnosis) -> Iterator[RenderableType]:
    """A summary, then each finding in two lines: what is so, and what to do about it."""
    blocking = sum(finding.blocks for finding in found.findings)
    if not found.findings:
        yield cell("Nothing was found that would keep it from working.", "green")
        return
    others = len(found.findings) - blocking
    verdict = f"{plural(blocking, 'finding')} must be mended first" if blocking else "Nothing keeps it from working"
    yield cell(
        f"{verdict}; {plural(others, 'other')} to know of" if others else verdict, "red" if blocking else "green"
    )
    for finding in found.findings:
        yield Text()
        lead = cell("blocks " if finding.blocks else "note   ", "red" if finding.blocks else "yellow")
        where = f" {finding.object}" if finding.object else ""
        yield hanging(lead.append_text(cell(f"{finding.rule}{where}: ", "bold")).append_text(cell(finding.message)), 7)
        yield hanging(cell(f"       fix: {finding.fix}"), 12)
