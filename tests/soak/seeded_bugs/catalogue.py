"""All seeded bugs, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.soak.seeded_bugs import cautions, floors, ledger, sending, surges, wire
from tests.soak.seeded_bugs.seams import SeededBug

ALL = (*sending.BUGS, *wire.BUGS, *ledger.BUGS, *floors.BUGS, *cautions.BUGS, *surges.BUGS)
BUGS: Mapping[str, SeededBug] = {bug.name: bug for bug in ALL}
