"""Bad arguments of objectives: each is told with its place and what to write; nothing is guessed."""

from __future__ import annotations

import pytest

from tests.unit.policy.policies import policy, problem

QUANTITY = "is not a quantity; write it like 250m, 2, 1.5Gi or 1e3"
SHARE = "write a share such as 0.7 or 70%"
SET = "{sets: [{name: a, members: [{}], %s}]}"
ARGUMENTS = [
    ("MakeRoom", "{prize: -1}", "args.prize: found -1; wanted 0 or more"),
    ("MakeRoom", "{prize: 1.5}", "args.prize: found 1.5; wanted a whole number"),
    ("MakeRoom", "{prize: .nan}", "args.prize: .nan is no finite number"),
    ("MakeRoom", "{prize: 1e400}", "args.prize: found '1e400'; wanted a whole number"),
    ("MakeRoom", "{prize: 99999999999}", "args.prize: found 99999999999; wanted 1000000 or less"),
    ("MakeRoom", "{prize: true}", "args.prize: found true; wanted a whole number"),
    ("MakeRoom", "{Prize: 1}", "args.Prize: unknown argument; did you mean prize?"),
    ("MakeRoom", "{all_or_nothing: true}", "unknown argument; did you mean allOrNothing?"),
    ("MakeRoom", "{all: true}", "unknown argument; MakeRoom takes prize, allOrNothing, together"),
    ("MakeRoom", "{unknown: }", "args.unknown: unknown argument"),
    ("MakeRoom", "{together: ''}", "args.together: found ''; wanted a text that is not empty"),
    ("MakeRoom", "{together: on}", "YAML reads on as a boolean; wanted a text: put it in quotes"),
    ("MakeRoom", "{together: 'a b'}", "no label has the key 'a b'"),
    ("MakeRoom", "{moveCost: 1}", "unknown argument; moveCost stands beside name, not under args"),
    ("EmptyNodes", "{nodeSelector: []}", "args.nodeSelector: found a list; wanted fields below it"),
    ("EmptyNodes", "{nodeSelector: {a: 1}}", "args.nodeSelector.a: found 1; wanted a text: put it in quotes"),
    ("EmptyNodes", "{nodeSelector: {a: }}", "args.nodeSelector.a: found nothing; wanted a text"),
    ("EmptyNodes", "{nodeSelector: {matchLabels: {a: b}, x: y}}", "unknown field; there are matchLabels, matchExpr"),
    ("EmptyNodes", "{price: {label: ''}}", "args.price.label: found ''; wanted a text that is not empty"),
    ("EmptyNodes", "{price: 5}", "args.price: found 5; wanted fields below it"),
    ("EmptyNodes", "{price: {a: x}}", "args.price.a: found 'x'; wanted a number"),
    ("EmptyNodes", "{price: {a: '3'}}", "args.price.a: found '3'; wanted a number"),
    ("EmptyNodes", "{price: {a: .inf}}", "args.price.a: .inf is no finite number"),
    ("EmptyNodes", "{price: {a: -1}}", "args.price.a: found -1; wanted 0 or more"),
    ("EmptyNodes", "{price: {a: 1.0e+300}}", "args.price.a: found 1e+300; wanted 1e+12 or less"),
    ("EmptyNodes", "{price: {a: true}}", "args.price.a: found true; wanted a number"),
    ("EmptyNodes", "{price: {a: }}", "args.price.a: found nothing; wanted a number"),
    ("EmptyNodes", "{price: {label: x, tabel: {a: 1}}}", "args.price.tabel: unknown field; did you mean table?"),
    ("EmptyNodes", "{price: {default: -1}}", "args.price.default: found -1; wanted 0 or more"),
    ("SpreadLoad", "{target: {}}", "args.target: empty; write at least one, or leave the field out"),
    ("SpreadLoad", "{target: {cpu: 0}}", f"args.target.cpu: 0 leaves nothing at all; {SHARE}"),
    ("SpreadLoad", "{target: {cpu: 70}}", f"args.target.cpu: found 70; {SHARE}"),
    ("SpreadLoad", "{target: {cpu: 101%}}", f"args.target.cpu: found '101%'; {SHARE}"),
    ("SpreadLoad", "{target: {cpu: -1}}", f"args.target.cpu: found -1; {SHARE}"),
    ("SpreadLoad", "{target: {cpu: .nan}}", "args.target.cpu: .nan is no finite number"),
    ("SpreadLoad", "{target: {cpu: yes}}", f"args.target.cpu: found true; {SHARE}"),
    ("SpreadLoad", "{target: {cpu: }}", f"args.target.cpu: found nothing; {SHARE}"),
    ("SpreadLoad", "{target: {'': 0.5}}", "args.target: a share has no resource before it; write cpu: 70%"),
    ("SpreadLoad", "{target: 0.7}", "args.target: found 0.7; wanted a map"),
    ("SpreadLoad", "{statistic: P95}", "args.statistic: found 'P95'; wanted mean, mean+2*std, p50, p90, p95 or p99"),
    ("SpreadLoad", "{statistic: p96}", "args.statistic: found 'p96'; wanted mean"),
    ("SpreadLoad", "{statistic: mean-1*std}", "args.statistic: found 'mean-1*std'; wanted mean"),
    ("SpreadLoad", "{statistic: mean+1e400*std}", "args.statistic: found 'mean+1e400*std'; wanted mean"),
    ("SpreadLoad", f"{{statistic: mean+{'9' * 400}*std}}", "wanted mean, mean+2*std"),
    ("SpreadLoad", "{statistic: mean+٣*std}", "wanted mean, mean+2*std"),
    ("SpreadLoad", "{statistic: 95}", "args.statistic: found 95; wanted a text: put it in quotes"),
    ("SeparateAntagonists", "{sets: [{name: a}]}", "args.sets[0].members: missing; write members"),
    ("SeparateAntagonists", "{sets: [{name: a, members: []}]}", "no selector; write at least one, such as {matchLab"),
    ("SeparateAntagonists", "{sets: [{name: a, members: [{a: b}]}]}", "there are matchLabels, matchExpressions"),
    ("SeparateAntagonists", "{sets: [{name: a, members: [{matchLabels: {a: }}]}]}", "found nothing; wanted a text"),
    ("SeparateAntagonists", "{sets: [{name: a, members: [{}]}, {name: a, members: [{}]}]}", "'a' is the name of two"),
    ("SeparateAntagonists", "{sets: [{name: '', members: [{}]}]}", "sets[0].name: found ''; wanted a text that is not"),
    ("SeparateAntagonists", SET % "namespaces: ['*']", "or leave namespaces out to mean all"),
    ("SeparateAntagonists", SET % "expires: soon", "found 'soon'; wanted a time such as 2030-01-31T12:00:00Z"),
    ("SeparateAntagonists", SET % "expires: 2030-01-01", "found '2030-01-01'; wanted a time such as"),
    ("SeparateAntagonists", SET % "expires: '2030-01-01T00:00:00'", "wanted a time such as 2030-01-31T12:00:00Z"),
    ("SeparateAntagonists", SET % "expires: 99999-01-01T00:00:00Z", "wanted a time such as 2030-01-31T12:00:00Z"),
    ("SeparateAntagonists", "{label: 5}", "args.label: found 5; wanted a text: put it in quotes"),
    ("Defragment", "{}", "args.shapes: missing; write shapes"),
    ("Defragment", "{shapes: []}", "args.shapes: no shape, so there is nothing to make room for"),
    ("Defragment", "{shapes: {cpu: 1}}", "args.shapes: found a map; wanted a list"),
    ("Defragment", "{shapes: [{}]}", 'args.shapes[0]: no resource; write at least one, such as cpu: "16"'),
    ("Defragment", "{shapes: [{weight: 2}]}", "args.shapes[0]: no resource; write at least one"),
    ("Defragment", "{shapes: [{cpu: 0}]}", "args.shapes[0]: cpu: found '0'; wanted a quantity above 0"),
    ("Defragment", "{shapes: [{cpu: -1}]}", "args.shapes[0]: cpu: '-1' is negative"),
    ("Defragment", "{shapes: [{cpu: .nan}]}", "args.shapes[0].cpu: .nan is no finite number"),
    ("Defragment", "{shapes: [{cpu: 1e400}]}", "args.shapes[0]: cpu: '1e400' is out of range; the largest amount"),
    ("Defragment", "{shapes: [{cpu: 99999999999999}]}", "args.shapes[0]: cpu: '99999999999999' is out of range"),
    ("Defragment", "{shapes: [{memory: 1Kb}]}", f"args.shapes[0]: memory: '1Kb' {QUANTITY}"),
    ("Defragment", "{shapes: [{cpu: true}]}", "args.shapes[0].cpu: YAML reads true as a boolean"),
    ("Defragment", "{shapes: [{cpu: }]}", "args.shapes[0].cpu: found nothing; wanted a text"),
    ("Defragment", "{shapes: [{'': 1}]}", "args.shapes[0]: '1' has no resource before it; write cpu: '1'"),
    ("Defragment", "{shapes: [{cpu: 1, weight: 0}]}", "args.shapes[0].weight: found 0; wanted more than 0"),
    ("Defragment", "{shapes: [{cpu: 1, weight: 1e400}]}", "args.shapes[0].weight: found '1e400'; wanted a number"),
    ("Defragment", "{shapes: [{cpu: 1, weight: .inf}]}", "args.shapes[0].weight: .inf is no finite number"),
    ("Defragment", "{shapes: [{resources: {cpu: '1'}, cpu: 2}]}", "unknown field; there are resources, weight"),
    ("Defragment", f"{{shapes: [{'{cpu: 1}, ' * 17}]}}", "args.shapes: found 17 entries; wanted 16 or fewer"),
    ("FaultDomains", "{a: 1}", "FaultDomains takes no arguments; leave args out"),
    ("SchedulerScore", "{minimumGain: 0}", "args.minimumGain: found 0; wanted more than 0"),
    ("SchedulerScore", "{minimumGain: -1}", "args.minimumGain: found -1; wanted more than 0"),
    ("SchedulerScore", "{minimumGain: 1e400}", "args.minimumGain: found '1e400'; wanted a number"),
    ("SchedulerScore", "{minimumGain: 2000000000}", "args.minimumGain: found 2000000000; wanted 1000000000 or less"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "text"), ARGUMENTS, ids=[f"{each[0]}-{each[1]:.60}" for each in ARGUMENTS])
def test_an_argument_that_says_nothing_sensible_is_refused(name: str, args: str, text: str) -> None:
    """The one problem stands at its own place below the objective's arguments."""
    found = problem(f"objectives: [{{name: {name}, args: {args}}}]")
    assert text in found
    assert ": objectives[0].args" in found


ENTRIES = [
    ("{weight: 1e400}", "objectives[0].weight: found '1e400'; wanted a number"),
    ("{weight: '1'}", "objectives[0].weight: found '1'; wanted a number"),
    ("{weight: true}", "objectives[0].weight: found true; wanted a number"),
    ("{weight: 2000000000}", "objectives[0].weight: found 2000000000; wanted 1000000000 or less"),
    ("{moveCost: -1}", "objectives[0].moveCost: found -1; wanted 0 or more"),
    ("{moveCost: .nan}", "objectives[0].moveCost: .nan is no finite number"),
    ("{name: [MakeRoom]}", "objectives[0].name: found ['MakeRoom']; there are MakeRoom, EmptyNodes"),
    ("{args: []}", "objectives[0].args: found a list; wanted a map"),
    ("MakeRoom", "objectives[0]: found 'MakeRoom'; wanted fields below it"),
    ("~", "objectives[0]: found nothing; wanted fields below it"),
    ("{name: MakeRoom}, {name: MakeRoom}", "MakeRoom stands in the list already; write it once"),
]


@pytest.mark.parametrize(("entry", "text"), ENTRIES, ids=[each[0] for each in ENTRIES])
def test_an_entry_that_is_no_objective_is_refused(entry: str, text: str) -> None:
    """Weights, costs and the entry's own form are told like arguments."""
    assert text in problem(f"objectives: [{entry}]")


def test_a_field_left_empty_means_its_default() -> None:
    """Only where there is a default: a heading whose lines are commented out changes nothing."""
    empty = policy("objectives: [{name: SpreadLoad, args: {target: , statistic: }, weight: }]")
    assert empty == policy("objectives: [{name: SpreadLoad}]")
