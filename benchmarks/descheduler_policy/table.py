"""Figures as tables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from benchmarks.descheduler_policy.judging import LIKE, NUMBERS, ORDER, OTHER, SAME, Verdict

_HEADINGS: Final = (
    "plugin", "cases", "somebody evicted", "evictions of the first run",
    "three runs alike", "same pods", "equal pods", "another order", "rest",
    "runs differ", "as one of them", "equal pods", "another order", "numbers by node", "rest",
)  # fmt: skip


def agreement_table(verdicts: Sequence[Verdict]) -> str:
    """By plugin: of the cases that are the same in three runs how many name the same pods, and of the others."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        for name in (verdict.case.plugin, "all"):
            counts = found[name]
            counts["cases"] += 1
            counts["busy"] += any(verdict.theirs)
            counts["victims"] += len(verdict.theirs[0])
            counts[f"{'stable' if verdict.is_stable else 'loose'} {verdict.kind}"] += 1
    lines = [f"| {' | '.join(_HEADINGS)} |", f"|{'---|' * len(_HEADINGS)}"]
    for plugin in sorted(found, key=lambda name: (name == "all", name)):
        counts = found[plugin]
        stable = [counts[f"stable {kind}"] for kind in (SAME, LIKE, ORDER)]
        stable.append(counts[f"stable {NUMBERS}"] + counts[f"stable {OTHER}"])
        loose = [counts[f"loose {kind}"] for kind in (SAME, LIKE, ORDER, NUMBERS, OTHER)]
        row = [plugin, counts["cases"], counts["busy"], counts["victims"], sum(stable), *stable, sum(loose), *loose]
        lines.append(f"| {' | '.join(map(str, row))} |")
    return "\n".join(lines)


def told_differences(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Each case that names other pods than every run, with all of them."""
    for verdict in verdicts:
        if verdict.kind in (SAME, LIKE):
            continue
        sort = "the same in three runs" if verdict.is_stable else "by chance"
        runs = "; ".join(", ".join(sorted(names)) or "nobody" for names in dict.fromkeys(verdict.theirs))
        ours = ", ".join(sorted(verdict.ours)) or "nobody"
        yield f"seed {verdict.case.seed}, {verdict.case.plugin} ({sort}, {verdict.kind}): {runs}; foretold: {ours}"
