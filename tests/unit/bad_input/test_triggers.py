"""Bad triggers: each problem is told with its place and what to write, all of them at once."""

from __future__ import annotations

import pytest

from tests.unit.policy.policies import HEAD, problem, problems

DURATION = "write it like 90s, 5m or 1h30m"
ARGUMENTS = [
    ("Schedule", "{every: 5}", f"args.every: 5 is not a duration; {DURATION}"),
    ("Schedule", "{every: 5mins}", f"args.every: '5mins' is not a duration; {DURATION}"),
    ("Schedule", "{every: -1h}", "args.every: '-1h' is not a duration"),
    ("Schedule", "{every: 0s}", "args.every: '0s' leaves no time at all"),
    ("Schedule", "{every: 0}", "args.every: 0 leaves no time at all"),
    ("Schedule", "{every: 1e9h}", "args.every: '1e9h' is not a duration"),
    ("Schedule", "{every: 999999999h}", "args.every: '999999999h' is longer than ten years"),
    ("Schedule", "{every: PT5M}", "args.every: 'PT5M' is not a duration"),
    ("Schedule", "{every: [5m]}", "args.every: a list is not a duration"),
    ("Schedule", "{every: 500ms}", "args: every: 500ms is too short; write 1s or more"),
    ("Schedule", "{every: 5m, jitter: 6m}", "args: jitter 6m is longer than every 5m; write a shorter one"),
    ("Schedule", "{jitter: 10%}", "args.jitter: '10%' is not a duration"),
    ("Schedule", '{cron: "0 22 * * *"}', "args: cron needs a time zone; write timeZone: UTC"),
    ("Schedule", "{timeZone: UTC}", "args: timeZone is for cron; leave it out, or write cron"),
    ("Schedule", '{every: 5m, cron: "0 22 * * *", timeZone: UTC}', "args: found every and cron; keep one"),
    ("Schedule", '{cron: "0 22 * *", timeZone: UTC}', "args.cron: '0 22 * *' is not a schedule; write five fields"),
    ("Schedule", '{cron: "0 0 30 2 *", timeZone: UTC}', "args.cron: '0 0 30 2 *' never opens"),
    ("Schedule", '{cron: "0 0 * * *", timeZone: CEST}', "args.timeZone: found 'CEST'; wanted a name of the IANA"),
    ("Schedule", '{cron: "0 0 * * *", timeZone: Europe/Berlim}', "did you mean Europe/Berlin?"),
    ("Schedule", "{evry: 5m}", "args.evry: unknown argument; did you mean every?"),
    ("Schedule", "{olderThan: 5m}", "olderThan is an argument of PendingPods; Schedule takes every, cron, timeZone"),
    ("PendingPods", "{olderThan: soon}", "args.olderThan: 'soon' is not a duration"),
    ("PendingPods", "{older_than: 5s}", "args.older_than: unknown argument; did you mean olderThan?"),
    ("PendingPods", "{backOff: {first: 1h, longest: 1m}}", "args.backOff: first 1h is longer than longest 60s"),
    ("PendingPods", "{backOff: {frist: 1h}}", "args.backOff.frist: unknown field; did you mean first?"),
    ("PendingPods", "{backOff: 5m}", "args.backOff: found '5m'; wanted fields below it"),
    ("NodesAdded", "{atLeast: 0}", "args.atLeast: found 0; wanted 1 or more"),
    ("NodesAdded", "{atLeast: 1.5}", "args.atLeast: found 1.5; wanted a whole number"),
    ("HotNode", "{above: {cpu: 85}}", "args.above.cpu: found 85; write a share such as 0.7 or 70%"),
    ("HotNode", "{above: {cpu: 0%}}", "args.above.cpu: 0 leaves nothing at all"),
    ("HotNode", "{above: {}}", "args.above: empty; write at least one, or leave the field out"),
    ("HotNode", "{above: {'': 85%}}", "args.above: '' is not measured; there are cpu, memory, disk, cpuPressure"),
    ("HotNode", "{above: {cpus: 85%}}", "there are cpu, memory, disk, cpuPressure; did you mean cpu?"),
    ("HotNode", "{above: {cpu: .nan}}", "args.above.cpu: .nan is no finite number"),
    ("HotNode", "{for: 5}", "args.for: 5 is not a duration"),
    ("HotNode", "{margin: 2}", "args.margin: found 2; write a share such as 0.7 or 70%"),
    ("HotNode", "{statistic: median}", "args.statistic: found 'median'; wanted mean, mean+2*std"),
    ("AutoscalerEvents", "{on: []}", "args.on: no reason; write at least one, such as NotTriggerScaleUp"),
    ("AutoscalerEvents", "{on: [ScaleUp]}", "args.on[0]: found 'ScaleUp'; there are NotTriggerScaleUp"),
    ("AutoscalerEvents", "{on: [TriggeredScaleUp]}", "did you mean NotTriggerScaleUp?"),
    ("AutoscalerEvents", "{on: NotTriggerScaleUp}", "args.on: found 'NotTriggerScaleUp'; wanted a list"),
    ("OnDemand", "{who: me}", "args.who: OnDemand takes no arguments; leave args out"),
    ("ObjectiveDrift", "{by: 0%}", "args.by: found 0%; wanted more than 0"),
    ("ObjectiveDrift", "{by: -1%}", "args.by: found '-1%'; write a share such as 0.7 or 70%"),
    ("ObjectiveDrift", "{of: []}", "args.of: empty; write at least one, or leave the field out"),
    ("ObjectiveDrift", "{of: [Spread]}", "args.of[0]: found 'Spread'; there are MakeRoom"),
    ("ObjectiveDrift", "{every: 0s}", "args.every: '0s' leaves no time at all"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "text"), ARGUMENTS, ids=[f"{each[0]}-{each[1]:.60}" for each in ARGUMENTS])
def test_an_argument_that_says_nothing_sensible_is_refused(name: str, args: str, text: str) -> None:
    """The one problem stands at its own place below the trigger's arguments."""
    found = problem(f"triggers: [{{name: {name}, args: {args}}}]")
    assert text in found
    assert ": triggers[0].args" in found


ENTRIES = [
    ("{args: {}}", "triggers[0].name: missing; write name"),
    ("{name: Pending}", "triggers[0].name: found 'Pending'; there are Schedule, PendingPods"),
    ("{name: [Schedule]}", "triggers[0].name: found ['Schedule']; there are Schedule"),
    ("{name: Schedule, args: []}", "triggers[0].args: found a list; wanted a map"),
    ("{name: Schedule, every: 5m}", "triggers[0].every: unknown field here; it belongs under triggers[].args"),
    ("{name: ObjectiveDrift, of: [MakeRoom]}", "triggers[0].of: unknown field here; it belongs under triggers[].args"),
    ("{name: Schedule, args: {name: x}}", "unknown argument; name stands beside name, not under args"),
    ("Schedule", "triggers[0]: found 'Schedule'; wanted fields below it"),
    ("~", "triggers[0]: found nothing; wanted fields below it"),
    ("{name: OnDemand}, {name: OnDemand}", "triggers[1]: OnDemand stands in the list already; write it once"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "text"), ENTRIES, ids=[each[0] for each in ENTRIES])
def test_an_entry_that_is_no_trigger_is_refused(entry: str, text: str) -> None:
    """Told like the entries of objectives."""
    assert text in problem(f"triggers: [{entry}]")


def test_all_problems_are_told_at_once() -> None:
    """Of triggers and objectives alike, in the order of the file."""
    found = problems(
        HEAD + "triggers:\n- {name: Schedule, args: {every: x, cron: y}}\n- {name: HotNode, args: {fro: 5m}}\n"
        "objectives: [{name: EmptyNodes, args: {a: 1}}]\n"
    )
    assert [text.split(": ")[1] for text in found] == [
        "triggers[0].args.every", "triggers[0].args.cron", "triggers[1].args.fro", "objectives[0].args.a",
    ]  # fmt: skip


def test_far_too_many_triggers_are_refused() -> None:
    """The number is told."""
    entries = ", ".join(f"{{name: NodesAdded, args: {{atLeast: {number}}}}}" for number in range(1, 40))
    assert "triggers: found 39 entries; wanted 32 or fewer" in problem(f"triggers: [{entries}]")
