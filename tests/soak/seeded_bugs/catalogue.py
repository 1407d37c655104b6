"""All seeded bugs, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.soak.seeded_bugs import cautions, floors, ledger, sending
from tests.soak.seeded_bugs.seams import SeededBug

BUGS: Mapping[str, SeededBug] = {bug.name: bug for bug in (*sending.BUGS, *ledger.BUGS, *floors.BUGS, *cautions.BUGS)}
