"""Policies are read strictly, with all problems at once, and later ones win field by field."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import pytest

from rescheduler.daemon.plugins import load_policy
from rescheduler.policy.fields.kinds_of_pods import OwnerKind, PersistentVolumes
from rescheduler.policy.fields.policy import Guidance, Mode, Permission, Policy
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.policy.reading.objective_arguments import arguments_of
from tests.unit.policy.policies import HEAD, policy, problem, problems


def written(folder: Path, name: str, body: str) -> str:
    """A policy file in a folder."""
    (folder / name).write_text(HEAD + body, encoding="utf-8")
    return str(folder / name)


def test_every_field_of_the_contract_is_read() -> None:
    """Each field ends where it belongs, in its unit."""
    read = policy("""
        metadata: {name: mine}
        mode: Execute
        objectives: [{name: MakeRoom, args: {}}]
        scope:
          namespaces: {include: [web, kube-system]}
          labelSelector:
            matchLabels: {tier: front}
            matchExpressions: [{key: app, operator: In, values: [a, b]}, {key: old, operator: DoesNotExist}]
          nodeSelector: {pool: blue}
          priorityBelow: -5
          minimumAge: 1h30m
          systemNamespaces: Allow
          namespaceSelector: {matchLabels: {team: a}}
        limits: {maxEvictions: 7, maxEvictionsPerNode: 2, maxEvictionsPerNamespace: 3, deadline: 5s}
        disruption:
          workloads: {maxUnavailable: 25%}
          singleReplicas: Allow
          ownerless: Allow
          localStorage: Allow
          persistentVolumes: Allow
          withoutBudget: Deny
          ownerKinds: [{group: apps.kruise.io, kind: CloneSet}, {group: "", kind: Thing}]
          notReady: Allow
          budgets: []
        guidance: Predict
        hold: {deadline: 90s, namespace: holds}
    """)
    assert (read.metadata.name, read.mode, read.guidance) == ("mine", Mode.EXECUTE, Guidance.PREDICT)
    assert (read.scope.namespaces.include, read.scope.namespaces.exclude) == (("web", "kube-system"), ())
    assert read.scope.node_selector.match_labels == {"pool": "blue"}
    assert [rule.operator for rule in read.scope.label_selector.match_expressions] == ["In", "DoesNotExist"]
    assert (read.scope.priority_below, read.scope.minimum_age) == (-5, 5400.0)
    assert (read.limits.max_evictions, read.limits.max_evictions_per_node) == (7, 2)
    assert (read.limits.max_evictions_per_namespace, read.limits.deadline) == (3, 5.0)
    assert read.disruption.workloads.max_unavailable == "25%"
    assert read.disruption.single_replicas is Permission.ALLOW
    assert read.disruption.persistent_volumes == PersistentVolumes(storage_classes=None)
    assert read.scope.system_namespaces is read.disruption.not_ready is Permission.ALLOW
    assert read.scope.namespace_selector.match_labels == {"team": "a"}
    assert read.disruption.without_budget is Permission.DENY
    assert read.disruption.owner_kinds == (
        OwnerKind(group="apps.kruise.io", kind="CloneSet"), OwnerKind(group="", kind="Thing"),
    )  # fmt: skip
    assert (read.hold.deadline, read.hold.namespace) == (90.0, "holds")


def test_the_defaults_are_those_of_the_contract() -> None:
    """No policy, and one that says nothing, are the same: strict."""
    defaults = load_policy([])
    assert defaults == policy() == Policy()
    assert (defaults.mode, defaults.guidance, defaults.hold.deadline) == (Mode.DRY_RUN, Guidance.HOLD, 60.0)
    assert (defaults.limits.max_evictions, defaults.limits.deadline) == (20, 10.0)
    assert defaults.limits.max_evictions_per_node is defaults.limits.max_evictions_per_namespace is None
    assert (defaults.scope.namespaces.exclude, defaults.scope.system_namespaces) == ((), Permission.DENY)
    assert (defaults.disruption.not_ready, defaults.disruption.without_budget) == (Permission.DENY, Permission.ALLOW)
    assert defaults.disruption.owner_kinds == ()
    assert defaults.disruption.persistent_volumes.denies_all
    assert defaults.disruption.workloads.max_unavailable == "10%"
    kinds = ("single_replicas", "ownerless", "local_storage")
    assert {getattr(defaults.disruption, kind) for kind in kinds} == {Permission.DENY}
    assert (defaults.disruption.budgets, defaults.disruption.unsettled) == ((), Permission.ALLOW)
    assert (defaults.health.settle, defaults.health.head_room) == (300.0, 0.05)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("maxEvictonsPerNode: 1", ("3:1: maxEvictonsPerNode: unknown field; did you mean maxEvictionsPerNode, which "
         "belongs under limits?")),
        ("limits: {maxEvictons: 1}", "3:10: limits.maxEvictons: unknown field; did you mean maxEvictions?"),
        ("scope: {ownerless: Deny}", "3:9: scope.ownerless: unknown field here; it belongs under disruption"),
        ("hold: {x: 1}", "3:8: hold.x: unknown field; there are deadline, namespace"),
        ("objectives: [{nam: MakeRoom}]", "3:15: objectives[0].nam: unknown field; did you mean name?"),
        ("limits: {maxEvictions: -1}", "3:24: limits.maxEvictions: found -1; wanted 0 or more"),
        ("limits: {maxEvictions: 1000001}", "3:24: limits.maxEvictions: found 1000001; wanted 1000000 or less"),
        ("limits: {maxEvictions: 1.5}", "3:24: limits.maxEvictions: found 1.5; wanted a whole number such as 20"),
        ("limits: {maxEvictions: '5'}", "3:24: limits.maxEvictions: found '5'; wanted a whole number such as 20"),
        ("limits: {maxEvictions: true}", "3:24: limits.maxEvictions: found true; wanted a whole number such as 20"),
        ("limits: {maxEvictions: 1e3}", "3:24: limits.maxEvictions: found '1e3'; wanted a whole number such as 20"),
        ("usage: {api: {tls: {insecureSkipVerify: 'true'}}}", ("3:41: usage.api.tls.insecureSkipVerify: found 'true'; "
         "wanted true or false, without quotes")),
        ("limits: {deadline: 0s}", "3:20: limits.deadline: '0s' leaves no time at all; write it like 90s, 5m or 1h30m"),
        ("limits: {deadline: 0}", "3:20: limits.deadline: 0 leaves no time at all; write it like 90s, 5m or 1h30m"),
        ("limits: {deadline: 5}", "3:20: limits.deadline: 5 is not a duration; write it like 90s, 5m or 1h30m"),
        ("limits: {deadline: -1h}", "3:20: limits.deadline: '-1h' is not a duration; write it like 90s, 5m or 1h30m"),
        ("limits: [1]", "3:9: limits: found a list; wanted fields below it: name: value"),
        ("guidance: hold", "3:11: guidance: found 'hold'; there are Predict, Hold, Guide, Taint; did you mean Hold?"),
        ("mode: on", "3:7: mode: YAML reads on as a boolean; there are DryRun, Approve, Execute"),
        ("objectives: []", ("3:13: objectives: no objective, so nothing would ever be moved; leave it out or write "
         "[{name: MakeRoom}]")),
        ("objectives: [{name: EmptyNode}]", ("3:21: objectives[0].name: found 'EmptyNode'; there are MakeRoom, "
         "EmptyNodes, SpreadLoad, SeparateAntagonists, Defragment, FaultDomains, SchedulerScore; did you mean "
         "EmptyNodes?")),
        ("objectives: [{args: {a: 1}}]", ("3:22: objectives[0].args.a: unknown argument; MakeRoom takes prize, "
         "allOrNothing, together")),
        ("objectives: [{name: FaultDomains, args: {a: 1}}]", ("3:42: objectives[0].args.a: FaultDomains takes no "
         "arguments; leave args out")),
        ("objectives: [{name: EmptyNodes, args: {target: {cpu: 1}}}]", ("3:40: objectives[0].args.target: target is an "
         "argument of SpreadLoad; EmptyNodes takes nodeSelector, price, maxNodes")),
        ("objectives: [{name: EmptyNodes, args: {prize: 1}}]", ("3:40: objectives[0].args.prize: unknown argument; did "
         "you mean price?")),
        ("objectives: [{name: EmptyNodes, args: {price: {m5: -1}}}]", ("3:52: objectives[0].args.price.m5: found -1; "
         "wanted 0 or more")),
        ("objectives: [{name: Defragment}]", "3:14: objectives[0].args.shapes: missing; write shapes"),
        ("objectives: [{name: Defragment, args: {shapes: [{cpu: x}]}}]", ("3:49: objectives[0].args.shapes[0]: cpu: "
         "'x' is not a quantity; write it like 250m, 2, 1.5Gi or 1e3")),
        ("objectives: [{name: SpreadLoad, args: {target: {cpu: 0}}}]", ("3:54: objectives[0].args.target.cpu: 0 leaves "
         "nothing at all; write a share such as 0.7 or 70%")),
        ("objectives: [{name: SpreadLoad, args: {statistic: median}}]", ("3:51: objectives[0].args.statistic: found "
         "'median'; wanted mean, mean+2*std, p50, p90, p95 or p99")),
        ("objectives: [{name: SeparateAntagonists, args: {sets: [{name: a, members: [{}], expires: soon}]}}]",
         "3:90: objectives[0].args.sets[0].expires: found 'soon'; wanted a time such as 2030-01-31T12:00:00Z"),
        ("objectives: [{weight: 0}]", "3:23: objectives[0].weight: found 0; wanted more than 0"),
        ("objectives: [{name: EmptyNodes}, {name: EmptyNodes}]", ("3:41: objectives[1].name: EmptyNodes stands in the "
         "list already; write it once")),
        ("limits: {margin: -1%}", "3:18: limits.margin: found '-1%'; write a share such as 0.7 or 70%"),
        ("schedulers: [{}]", ("3:14: schedulers[0]: nothing is given; write file, configMap, or schedulerName for "
         "kube-scheduler's defaults")),
        ("schedulers: [a.yaml]", "3:14: schedulers[0]: found 'a.yaml'; wanted fields below it: name: value"),
        ("schedulers: [{path: x}]", "3:15: schedulers[0].path: unknown field here; it belongs under usage.store"),
        ("schedulers: [{configmap: a/b}]", "3:15: schedulers[0].configmap: unknown field; did you mean configMap?"),
        ("triggers: []", ("3:11: triggers: no trigger, so a daemon would never do anything; leave it out or write "
         "[{name: OnDemand}]")),
        ("disruption: {budgets: [{maxMovin: 1}]}", ("3:25: disruption.budgets[0].maxMovin: unknown field; "
         "did you mean maxMoving?")),
        ("disruption: {ownerless: 'false'}", "3:25: disruption.ownerless: found 'false'; there are Deny, Allow"),
        ("disruption: {ownerless: no}", ("3:25: disruption.ownerless: YAML reads no as a boolean; "
         "there are Deny, Allow")),
        ("scope: {namespaces: {include: []}}", ("3:31: scope.namespaces.include: selects nothing, so nothing would "
         "ever be moved; leave it out to mean all namespaces")),
        ("scope: {namespaces: {exclude: [no]}}", ("3:32: scope.namespaces.exclude[0]: YAML reads no as a boolean; "
         "wanted a text: put it in quotes")),
        ("scope: {namespaces: {include: [b, a], exclude: [a]}}", ("3:21: scope.namespaces: a is both included (line 3) "
         "and excluded (line 3); keep one")),
        ("scope: {nodeSelector: {zone: 1}}", "3:30: scope.nodeSelector.zone: found 1; wanted a text: put it in quotes"),
        ("scope: {labelSelector: {app: web}}", ("3:25: scope.labelSelector.app: unknown field; there are "
         "matchExpressions, matchLabels")),
        ("hold: {namespace: Holds}", ("3:19: hold.namespace: found 'Holds'; wanted a name of lower-case letters, "
         "digits and dashes")),
    ],
)  # fmt: skip
def test_each_problem_has_its_place_and_what_to_write(body: str, text: str) -> None:
    """File, line, column, path, what was found, and the way out."""
    assert problem(body) == f"p.yaml:{text}"


@pytest.mark.parametrize("share", ["150%", "-5%", "10 %", "0.1", '"10"', "yes", "[1]", "1%%", "-1"])
def test_a_share_of_another_form_shows_the_forms_that_are_read(share: str) -> None:
    """A number of pods or a percentage; nothing is guessed."""
    found = problem(f"disruption: {{workloads: {{maxUnavailable: {share}}}}}")
    assert found.endswith("write a whole number of pods such as 1, or a share such as 10%")


def test_a_whole_workload_may_not_be_down_at_once() -> None:
    """A share of 100% is refused, without an override."""
    assert "a whole workload to be down" in problem("disruption: {workloads: {maxUnavailable: 100%}}")


@pytest.mark.parametrize("name", ['"*"', "kube-*", "a/b", '""', "-a"])
def test_patterns_of_namespaces_are_refused(name: str) -> None:
    """A pattern would protect nothing; it is never taken for a name."""
    assert "patterns are not read here" in problem(f"scope: {{namespaces: {{exclude: [{name}]}}}}")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("{key: a, operator: In}", "In needs values"),
        ("{key: a, operator: Exists, values: [b]}", "Exists takes no values"),
        ("{key: a, operator: Gt, values: ['1']}", "there are In, NotIn, Exists, DoesNotExist"),
        ("{operator: Exists}", "missing; write key"),
    ],
)
def test_rules_of_selectors_that_select_nothing_sensible(rule: str, text: str) -> None:
    """An operator and its values must suit each other, in both selectors."""
    for selector in ("labelSelector", "nodeSelector"):
        assert text in problem(f"scope: {{{selector}: {{matchExpressions: [{rule}]}}}}")


def test_all_problems_are_told_at_once_in_the_order_of_the_file() -> None:
    """Nobody repairs a policy one error at a time."""
    found = problems("kind: Pod\nlimits: {maxEvictions: -1, x: 1}\nmode: x\n")
    assert [text.split(":")[1:4] for text in found] == [
        ["1", "1", " apiVersion"],
        ["1", "7", " kind"],
        ["2", "24", " limits.maxEvictions"],
        ["2", "28", " limits.x"],
        ["3", "7", " mode"],
    ]


def test_of_very_many_problems_the_first_fifty_are_told() -> None:
    """The rest is counted."""
    with pytest.raises(PolicyError) as caught:
        policy("".join(f"x{number}: 1\n" for number in range(70)))
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[-1]) == (51, "and 20 more")


@pytest.mark.parametrize("value", ["v1", "rescheduler/v1", "descheduler/v1alpha2", "7"])
def test_another_version_is_never_taken_for_ours(value: str) -> None:
    """An unknown apiVersion is refused with the one there is."""
    (found,) = problems(f"apiVersion: {value}\nkind: ReschedulerPolicy\n")
    assert "there is only rescheduler/v1alpha1" in found


def test_later_policies_win_field_by_field(tmp_path: Path) -> None:
    """Fields that only the first one sets stay; lists are replaced whole; nothing takes a value back."""
    first = written(
        tmp_path, "a.yaml",
        "limits: {maxEvictions: 5, maxEvictionsPerNode: 1, deadline: 3s}\nscope: {namespaces: {exclude: [a, b]}}\n",
    )  # fmt: skip
    second = written(
        tmp_path, "b.yaml",
        "limits: {maxEvictions: 9, maxEvictionsPerNode: null}\nscope: {namespaces: {exclude: [c]}}\n",
    )  # fmt: skip
    both = load_policy([first, second])
    assert (both.limits.max_evictions, both.limits.deadline, both.limits.max_evictions_per_node) == (9, 3.0, None)
    assert both.scope.namespaces.exclude == ("c",)


def test_a_contradiction_between_two_files_names_the_second(tmp_path: Path) -> None:
    """Each file is right alone, together they are not."""
    first = written(tmp_path, "a.yaml", "scope: {namespaces: {include: [web]}}\n")
    second = written(tmp_path, "b.yaml", "scope: {namespaces: {exclude: [web]}}\n")
    with pytest.raises(PolicyError, match="web is both included") as caught:
        load_policy([first, second])
    assert caught.value.problems[0].file == second


def test_a_wrong_value_is_refused_even_where_a_later_file_replaces_it(tmp_path: Path) -> None:
    """No file may hold nonsense, and the problem names the right file."""
    first = written(tmp_path, "a.yaml", "limits: {maxEvictions: -1}\n")
    second = written(tmp_path, "b.yaml", "limits: {maxEvictions: 1}\n")
    with pytest.raises(PolicyError) as caught:
        load_policy([first, second])
    assert str(caught.value) == f"{first}:3:24: limits.maxEvictions: found -1; wanted 0 or more"


def test_files_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    """Missing files, folders, pipes and devices each say what they are."""
    os.mkfifo(tmp_path / "pipe")
    for name, text in (
        ("missing.yaml", "No such file"),
        (".", "a folder"),
        ("pipe", "a pipe"),
        ("/dev/zero", "device"),
    ):
        with pytest.raises(PolicyError, match=text):
            load_policy([tmp_path / name])


def test_names_from_a_file_cannot_play_with_the_terminal() -> None:
    """Control characters and marks of direction come back as escapes."""
    (found,) = problems(HEAD + '"x\\e[31m\\u202e": 1\n')
    assert "x\\x1b[31m\\u202e" in found
    assert found.isprintable()


def test_arguments_may_be_written_in_short_forms() -> None:
    """A price is a label or a table, shapes are plain resource maps, targets are fractions or percentages."""
    read = policy("""
        objectives:
        - name: EmptyNodes
          args: {price: {m5.large: 2, m5.xlarge: 4.5}}
        - name: SpreadLoad
          args: {target: {cpu: 70%, memory: 0.5}, statistic: mean + 2*std}
        - name: Defragment
          args: {shapes: [{cpu: 16, weight: 2}, {resources: {nvidia.com/gpu: "1"}}]}
        """)
    nodes, load, shapes = (cast("Any", arguments_of(one)) for one in read.objectives)
    assert nodes.price.table == {"m5.large": 2.0, "m5.xlarge": 4.5}
    assert nodes.price.label == "node.kubernetes.io/instance-type"
    assert (load.target, load.statistic) == ({"cpu": 0.7, "memory": 0.5}, "mean+2*std")
    assert [one.resources for one in shapes.shapes] == [{"cpu": "16"}, {"nvidia.com/gpu": "1"}]
    assert [one.weight for one in shapes.shapes] == [2.0, 1.0]


def test_a_price_may_be_the_value_of_a_label() -> None:
    """A text names the label whose value is the node's price."""
    read = policy("objectives: [{name: EmptyNodes, args: {price: example.com/price}}]")
    arguments: Any = arguments_of(read.objectives[0])
    assert (arguments.price.label, arguments.price.table) == ("example.com/price", {})
