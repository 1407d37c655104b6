"""The measured agreement, for people and as a result file of the common form."""

from __future__ import annotations

import json
from collections.abc import Sequence as Several

from benchmarks.fidelity.comparison import ALL, tally
from benchmarks.fidelity.measuring import Measured
from benchmarks.fidelity.sequences import Sequence
from benchmarks.fidelity.table import share, table
from benchmarks.machine import describe_machine, peak_megabytes


def told(version: str, measured: Measured, sequences: Several[Sequence]) -> str:
    """The table, and what stands beside it."""
    lines = [f"kube-scheduler {version}", table(tally(measured.cases))]
    lines += [f"miss: {miss}" for miss in measured.misses]
    places = [place for sequence in sequences for place in sequence.places]
    if sequences:
        exact = sum(sequence.is_exact for sequence in sequences)
        hits = sum(place.is_expected for place in places)
        lines.append(
            f"sequences of evictions: {exact} of {len(sequences)} exact ({share(exact, len(sequences))}), "
            f"{hits} of {len(places)} pods where foretold"
        )
        lines += [f"miss: sequence {s.seed}, {place}" for s in sequences for place in s.places if not place.is_expected]
    if measured.refused:
        lines.append(f"{len(measured.refused)} random objects were refused by the API server, the first: "
                     f"{measured.refused[0]}")  # fmt: skip
    return "\n".join(lines)


def result(instance: str, seconds: float, measured: Measured, sequences: Several[Sequence]) -> str:
    """The result file's text: ``value`` counts cases that agree, of ``bound``."""
    rows = tally(measured.cases)
    found = {
        "instance": instance,
        "seconds": round(seconds, 3),
        "peakMegabytes": peak_megabytes(),
        "value": sum(case.is_expected for case in measured.cases),
        "bound": rows[ALL].cases,
        "result": {
            "profiles": {name: row.as_data() for name, row in rows.items()},
            "misses": [str(miss) for miss in measured.misses],
            "refusedByTheServer": measured.refused,
            "sequences": [
                {"seed": item.seed, "isExact": item.is_exact, "places": [place._asdict() for place in item.places]}
                for item in sequences
            ],
        },
        "machine": describe_machine(),
    }
    return json.dumps(found)
