"""What a campaign says at its end, and what a failing run says at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.soak.campaign import Totals
from tests.soak.kill_points import KillPoint
from tests.soak.line.faults import PAIRS, SITES
from tests.soak.run import Outcome

LINES_BEFORE = 20


def failure(outcome: Outcome) -> str:
    """Seed, invariant, how to see it again, and the events before."""
    first = outcome.violations[0]
    settings = outcome.settings
    return "\n".join(
        [
            f"VIOLATION of {first.invariant} at {first.t:.3f} s of seed {settings.seed}: {first.message}",
            f"  again: python -m tests.soak --replay {settings.seed} --hours-each {settings.hours:g}",
            *(f"  also {item.invariant}: {item.message}" for item in outcome.violations[1:4]),
            *(f"    {line}" for line in outcome.lines[-LINES_BEFORE:]),
        ]
    )


def summary(totals: Totals) -> str:
    """The figures of a campaign."""
    return "\n".join(_lines(totals))


def kill_summary(results: Sequence[tuple[KillPoint, Outcome]]) -> str:
    """The figures of kill points: how many, where they struck, and what did not hold."""
    struck: Counter[str] = Counter()
    broken = 0
    for _, outcome in results:
        struck.update(site for site, _ in outcome.struck)
        broken += bool(outcome.violations)
    evictions = sum(outcome.accepted for _, outcome in results)
    return (
        f"{len(results):,} kill points, {evictions:,} accepted evictions, violations in {broken}\n"
        f"struck at: {_counted(struck)}"
    )


def _lines(totals: Totals) -> Iterator[str]:
    share = 100.0 * totals.with_evictions / max(1, totals.faulted)
    yield (
        f"{totals.hours:,.0f} simulated cluster-hours, {totals.runs:,} seeds ({totals.leaders:,} with several "
        f"leaders), {totals.rounds:,} rounds, {totals.seconds:,.0f} s of processor time"
    )
    yield f"requests: {sum(totals.requests.values()):,} ({_counted(totals.requests)})"
    yield f"accepted evictions: {totals.accepted:,}, of them {totals.late:,} in the gap that no client can close"
    yield f"faulted runs with an accepted eviction (V1): {share:.0f} % of {totals.faulted:,}"
    yield f"gate: {sum(totals.verdicts.values()):,} verdicts ({_counted(totals.verdicts)})"
    by_kind: Counter[str] = Counter()
    for (_, kind), number in totals.struck.items():
        by_kind[kind] += number
    yield f"faults: {sum(by_kind.values()):,} ({_counted(by_kind)})"
    yield f"times of trouble: {_counted(totals.episodes)}"
    yield f"world events: {_counted(totals.happened)}"
    missing = totals.missing_pairs
    met = len(PAIRS) - len(missing)
    yield f"call sites x faults: {met} of {len(PAIRS)} met" + (f"; not met: {_pairs(missing)}" if missing else "")
    yield f"invariants checked: {_counted(totals.guards)}"
    yield f"exceptions that got out: {_counted(totals.crashes)}"
    yield f"violations: {sum(totals.violations.values())} {_counted(totals.violations) if totals.violations else ''}"


def table(totals: Totals) -> str:
    """Call sites by faults, with how often each pair met."""
    kinds = sorted({kind for _, kind in PAIRS})
    lines = ["| call site | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
    for site in SITES:
        cells = [str(totals.struck[site, kind]) if (site, kind) in PAIRS else "" for kind in kinds]
        lines.append(f"| {site} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.most_common() if number) or "none"


def _pairs(pairs: list[tuple[str, str]]) -> str:
    return ", ".join(f"{site} x {kind}" for site, kind in pairs[:12]) + (" ..." if len(pairs) > 12 else "")
