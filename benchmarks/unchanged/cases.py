"""Every question that is put to the program, by a name that is also the name of its answer's file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.unchanged.random_clusters import random_cluster, random_usage

EXAMPLES = ("docs/examples/small.json", "docs/examples/chain.yaml", "docs/examples/infeasible.json")
CONFIGURATIONS = (
    "docs/examples/kube-scheduler.yaml",
    "docs/examples/kube-scheduler-trimaran.yaml",
    "docs/examples/legacy-policy.json",
    "docs/examples/volcano-scheduler.conf",
    "docs/examples/schedulers.yaml",
)
COMMANDS = (
    "",
    "demo",
    "snapshot",
    "plan",
    "apply",
    "clean",
    "explain",
    "explain pod",
    "explain node",
    "simulate",
    "check",
)
LATER_COMMANDS = ("score", "schedule", "run", "watcher", "top", "top nodes", "top pods", "history")
SHAPES = [{"cpu": "3", "memory": "4Gi"}, {"nvidia.com/gpu": "1", "weight": 2}]
SETS = [{"name": "rivals", "members": [{"matchLabels": {"app": "app-0"}}, {"matchLabels": {"tier": "back"}}]}]
OBJECTIVES: dict[str, dict[str, Any]] = {
    "MakeRoom": {},
    "EmptyNodes": {},
    "SpreadLoad": {"target": {"cpu": "55%", "memory": "60%"}},
    "SeparateAntagonists": {"sets": SETS},
    "Defragment": {"shapes": SHAPES},
    "FaultDomains": {},
    "SchedulerScore": {},
}


@dataclass(frozen=True)
class Case:
    """``words``: the command line without the program's name."""

    name: str
    words: tuple[str, ...]


def cases(folder: Path, clusters: int) -> Iterator[Case]:
    """All cases; what they read is written into ``folder``."""
    yield from _of_examples()
    yield from _of_pages()
    for seed in range(clusters):
        yield from _of_random_cluster(folder, seed)


def _of_pages() -> Iterator[Case]:
    for command in (*COMMANDS, *LATER_COMMANDS):
        yield Case(f"help-{command.replace(' ', '-') or 'all'}", (*command.split(), "--help"))
    for path in (*CONFIGURATIONS, *sorted(str(path) for path in Path("policies").glob("*.yaml"))):
        yield Case(f"check-{Path(path).stem}", ("check", path))


def _of_examples() -> Iterator[Case]:
    for example in EXAMPLES:
        read, name = ("-f", example, "--deadline", "60s"), Path(example).stem
        for form in ("table", "wide", "json", "yaml", "html"):
            yield Case(f"{name}-plan-{form}", ("plan", *read, "-o", form))
        for policy in sorted(Path("policies").glob("*.yaml")):
            yield Case(f"{name}-{policy.stem}-plan", ("plan", *read, "-o", "json", "--policy", str(policy)))
            yield Case(f"{name}-{policy.stem}-simulate", ("simulate", *read, "-o", "json", "--policy", str(policy)))
        yield Case(f"{name}-schedule", ("schedule", "-f", example, "-o", "json"))
        yield Case(f"{name}-schedule-table", ("schedule", "-f", example))
        yield Case(f"{name}-add-node", ("plan", *read, "--add-node", "cpu=16,memory=64Gi"))
        for number, pod in enumerate(_pods(Path(example))):
            yield Case(f"{name}-explain-{number}", ("explain", "pod", pod, "-f", example, "-o", "json"))
            yield Case(f"{name}-score-{number}", ("score", pod, "-f", example, "-o", "wide"))


def _pods(path: Path) -> list[str]:
    import yaml

    items = yaml.safe_load(path.read_text())["items"]
    pods = [item["metadata"] for item in items if item["kind"] == "Pod"]
    return [f"{pod['namespace']}/{pod['name']}" for pod in pods][:6]


def _of_random_cluster(folder: Path, seed: int) -> Iterator[Case]:
    cluster = random_cluster(seed)
    recording, usage = folder / f"cluster-{seed}.json", folder / f"usage-{seed}.json"
    recording.write_text(json.dumps(cluster))
    usage.write_text(json.dumps(random_usage(seed, cluster)))
    for name, arguments in OBJECTIVES.items():
        entry = {"name": name} | ({"args": arguments} if arguments else {})
        policy = _policy(folder, f"{name}-{seed}", [entry], seed)
        words = ("plan", "-f", str(recording), "--policy", policy, "-o", "json", "--deadline", "60s")
        loaded = ("--usage", str(usage)) if name == "SpreadLoad" and seed % 3 else ()
        yield Case(f"random-{name}-{seed}", (*words, *loaded))
    entries = [{"name": name} | ({"args": args} if args else {}) for name, args in OBJECTIVES.items()]
    if seed % 4 == 0:
        policy = _policy(folder, f"all-{seed}", entries, seed)
        yield Case(
            f"random-all-{seed}", ("plan", "-f", str(recording), "--policy", policy, "-o", "json", "--deadline", "60s")
        )
    if seed % 10 == 1:
        weighted = [entry | {"weight": 1 + place} for place, entry in enumerate(entries[1:4])]
        policy = _policy(folder, f"weighted-{seed}", weighted, seed)
        yield Case(
            f"random-weighted-{seed}",
            ("plan", "-f", str(recording), "--policy", policy, "-o", "json", "--deadline", "60s"),
        )
    if seed % 5 == 2:
        policy = _policy(folder, f"EmptyNodes-{seed}", [{"name": "EmptyNodes"}], seed)
        yield Case(f"random-simulate-{seed}", ("simulate", "-f", str(recording), "--policy", policy, "-o", "json"))
        yield Case(f"random-schedule-{seed}", ("schedule", "-f", str(recording), "-o", "json"))
    if seed % 10 == 3:
        yield from _of_configurations(folder, recording, usage, seed)


def _of_configurations(folder: Path, recording: Path, usage: Path, seed: int) -> Iterator[Case]:
    """Predictions by each scheduler's own configuration."""
    for path in CONFIGURATIONS[:4]:
        name = Path(path).stem
        copy = folder / Path(path).name
        copy.write_bytes(Path(path).read_bytes())
        entry = {"file": str(copy)}
        if name in ("legacy-policy", "volcano-scheduler"):
            entry["schedulerName"] = "default-scheduler"
        policy = _policy(folder, f"{name}-{seed}", [{"name": "SchedulerScore"}], seed, schedulers=[entry])
        words = ("-f", str(recording), "--policy", policy, "-o", "json")
        for loaded in ((), ("--usage", str(usage))):
            told = f"{name}-{seed}{'-loaded' if loaded else ''}"
            yield Case(f"configured-schedule-{told}", ("schedule", *words, *loaded))
            yield Case(f"configured-score-{told}", ("score", _first_pod(recording), *words[:-1], "wide", *loaded))


def _first_pod(recording: Path) -> str:
    pod = next(item["metadata"] for item in json.loads(recording.read_text())["items"] if item["kind"] == "Pod")
    return f"{pod['namespace']}/{pod['name']}"


def _policy(folder: Path, name: str, objectives: list[dict[str, Any]], seed: int, **more: Any) -> str:
    """A policy file; limits and guidance differ from seed to seed."""
    document = more | {
        "apiVersion": "rescheduler/v1alpha1",
        "kind": "ReschedulerPolicy",
        "metadata": {"name": name.lower()},
        "objectives": objectives,
        "limits": {"maxEvictions": (20, 4, 50)[seed % 3], "deadline": "60s"},
        "disruption": {"workloads": {"maxUnavailable": ("10%", "50%", "90%")[seed // 3 % 3]}},
        "guidance": ("Hold", "Hold", "Predict", "Guide")[seed % 4],
    }
    path = folder / f"policy-{name}.yaml"
    path.write_text(json.dumps(document))
    return str(path)
