"""How one simulated run is set up; everything in it follows from its seed."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from tests.soak.line.faults import PAIRS
from tests.soak.surging import with_surges
from tests.soak.world.lies import USAGE

FORCED_EACH = 5
MEASURED_SHARE = 0.3
DEDICATED_SHARE = 0.3
SURGE_SHARE = 0.25
GUIDED_SITES = {
    "Guide": {"can gate", "gate", "ungate"},
    "Taint": {"can taint", "taint", "untaint"},
    "Hold": {"can hold", "hold", "renew", "release", "nominate", "leftovers"},
}


@dataclass(frozen=True)
class RunSettings:
    """``seed`` draws the scenery, the world's events, the faults and the plans, each from a stream of its own.

    ``planner``: adversary or real. ``has_proof``: the independent checker looks at plans; without it (adversarial runs
    only) it says yes to everything, and the gate stands alone: then nothing is promised about places (I6, I29).
    ``processes``: how many believe that they lead. ``world_pace``: how fast things happen, 1 as in world_events.RATES;
    ``large_pods`` and ``dedicated``: how many of them, and how many nodes that are kept to others for a while, an hour.
    ``fault_rate``: share of calls that are struck; ``episodes``: times of trouble an hour; ``kills``: kills an hour at
    any moment, besides those in calls; ``wall_jumps``: jumps of wall clocks an hour. ``forced``: see Faults.
    ``policy``: its text. ``round_seconds``: time between two rounds. ``is_measured``: load is, by a metrics API that
    lies at times; then the policy names it. ``has_surges``: pods of Deployments move by surge, as the policy says.
    """

    seed: int
    hours: float = 5.0
    nodes: int = 6
    zones: int = 2
    planner: str = "adversary"
    has_proof: bool = True
    malice: float = 0.5
    processes: int = 1
    world_pace: float = 1.0
    large_pods: float = 0.3
    dedicated: float = 0.0
    share_ill: float = 0.03
    fault_rate: float = 0.02
    episodes: float = 1.0
    kills: float = 0.5
    deadly: float = 0.1
    wall_jumps: float = 0.0
    forced: tuple[tuple[str, str], ...] = ()
    policy: str = ""
    round_seconds: float = 300.0
    is_measured: bool = False
    has_surges: bool = False
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def is_faulted(self) -> bool:
        """Whether anything goes wrong by our doing."""
        return self.fault_rate > 0 or self.episodes > 0 or self.processes > 1


def _guidance(forced: tuple[tuple[str, str], ...]) -> str | None:
    """What makes a process come by the sites where faults are forced; None: any will do."""
    sites = {site for site, _ in forced}
    for guidance, own in GUIDED_SITES.items():
        if sites & own:
            return guidance
    return None


def drawn(seed: int, hours: float, policy_of: object) -> RunSettings:
    """The settings that belong to a seed. ``policy_of(random)``: a policy's text."""
    random = Random(f"settings/{seed}")
    nodes = random.choices([random.randint(3, 8), random.randint(9, 20), random.randint(21, 50)], [75, 20, 5])[0]
    is_real = random.random() < 0.2
    is_calm = random.random() < 0.12
    is_measured = Random(f"measured/{seed}").random() < MEASURED_SHARE
    forced = tuple(PAIRS[(seed * FORCED_EACH + number) % len(PAIRS)] for number in range(FORCED_EACH))
    has_surges = Random(f"surges/{seed}").random() < SURGE_SHARE
    return RunSettings(
        seed=seed,
        hours=hours,
        nodes=nodes,
        zones=random.choice((1, 2, 2, 3)),
        planner="real" if is_real else "adversary",
        has_proof=is_real or random.random() < 0.7,
        malice=random.choice((0.1, 0.3, 0.5)),
        processes=random.choices((1, 2, 3), (70, 20, 10))[0],
        world_pace=0.0 if is_calm and is_real else random.choice((0.1, 0.3, 0.6, 1.5)),
        large_pods=4.0 if is_real else 0.3,
        dedicated=1.0 if Random(f"dedicated/{seed}").random() < DEDICATED_SHARE else 0.0,
        share_ill=random.choice((0.0, 0.02, 0.1)),
        fault_rate=0.0 if is_calm else random.choice((0.002, 0.01, 0.03, 0.08)),
        episodes=0.0 if is_calm else random.choice((0.2, 0.5, 2.0)),
        kills=0.0 if is_calm else random.choice((0.0, 0.5, 2.0)),
        deadly=random.choice((0.05, 0.3, 1.0)),
        wall_jumps=random.choice((0.0, 0.0, 0.3, 2.0)),
        forced=() if is_calm else forced,
        policy=_asked_for(
            policy_of(random, _guidance(forced)),  # type: ignore[operator]
            is_measured=is_measured,
            has_surges=has_surges,
            seed=seed,
        ),
        round_seconds=300.0 if is_real else random.choice((60.0, 120.0, 300.0)),
        is_measured=is_measured,
        has_surges=has_surges,
    )


def _asked_for(text: str, *, is_measured: bool, has_surges: bool, seed: int) -> str:
    """A policy's text with what a run has besides."""
    text = text + USAGE if is_measured else text
    return with_surges(text, Random(f"moveBy/{seed}")) if has_surges else text
