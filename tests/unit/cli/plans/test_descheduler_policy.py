"""Commands with a DeschedulerPolicy: plan foretells it, check reads it, others say what they want."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.adapters.api_objects import container, node_object, pod_object
from tests.unit.cli.desk import Desk
from tests.unit.policy.policies import HEAD

POLICY = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
maxNoOfPodsToEvictTotal: 5
profiles:
- name: p
  nodeFit: true
  pluginConfig:
  - name: LowNodeUtilization
    args: {thresholds: {cpu: 30}, targetThresholds: {cpu: 50}}
  plugins:
    balance: {enabled: [LowNodeUtilization]}
"""


def web(number: int) -> dict[str, Any]:
    """A replica on a node that carries much."""
    found = pod_object(f"web-{number}", "a", containers=[container(cpu="1")])
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs-web", "controller": True}
    found["metadata"]["ownerReferences"] = [owner]
    return found


@pytest.fixture
def desk(desk: Desk) -> Desk:
    """A node with most of the pods, two empty ones, and a file of descheduler's."""
    desk.record(*(node_object(name) for name in "abc"), *(web(number) for number in range(3)))
    desk.file("d.yaml", POLICY)
    return desk


def command(desk: Desk, *words: str) -> tuple[int, str, str]:
    """A command with the file, on the recording."""
    return desk.shell(*words, "-f", str(desk.folder / "cluster.json"), "--policy", str(desk.folder / "d.yaml"))


def test_plan_foretells_victims_and_their_landing(desk: Desk) -> None:
    """JSON holds order, profile and landing; what upstream reads over is a warning."""
    answer = command(desk, "plan", "-o", "json")
    assert answer.code == 0
    plan = json.loads(answer.out)
    assert (plan["kind"], [item["name"] for item in plan["objectives"]]) == ("Plan", ["LowNodeUtilization"])
    tried = [*plan["moves"], *plan["refusals"]]
    assert sorted(item["order"] for item in tried) == list(range(1, len(tried) + 1))
    assert tried
    for move in plan["moves"]:
        assert move["landing"] in ("OtherNode", "SameNode", "Pending", "NoReplacement")
        assert move["objective"] == move["reason"] == "LowNodeUtilization"
    assert "profiles[0].nodeFit: is no field here, and is read over" in answer.err


def test_the_table_tells_what_comes_of_it(desk: Desk) -> None:
    """Headline, one line a plugin, each victim."""
    answer = command(desk, "plan")
    assert answer.code == 0
    assert answer.out.startswith("descheduler would ask for ")
    assert "LowNodeUtilization: " in answer.out


def test_a_policy_beside_it_sets_our_own_rules_and_no_objectives(desk: Desk) -> None:
    """Its limits bind; objectives of its own are wrong use."""
    own = desk.file("own.yaml", f"{HEAD}limits: {{maxEvictions: 0}}\n")
    plan = json.loads(command(desk, "plan", "-o", "json", "--policy", own).out)
    assert plan["moves"] == []
    assert plan["refusals"]
    own = desk.file("own.yaml", f"{HEAD}objectives: [{{name: MakeRoom}}]\n")
    answer = command(desk, "plan", "--policy", own)
    assert answer.code == 2
    assert "stand beside a DeschedulerPolicy, whose plugins are the objectives" in answer.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan", "--objective", "MakeRoom"], "--objective: a DeschedulerPolicy brings its own plugins"),
        (["plan", "--remove-node", "a"], "leave the DeschedulerPolicy out"),
        (["plan", "--replace-node", "a"], "leave the DeschedulerPolicy out"),
        (["plan", "-o", "html"], "has no such form"),
        (["simulate"], "a DeschedulerPolicy, which plan, apply, run and check read"),
        (["explain", "pod", "default/web-0"], "a DeschedulerPolicy, which plan, apply, run and check read"),
    ],
)
def test_what_cannot_be_asked_is_wrong_use(desk: Desk, words: list[str], said: str) -> None:
    """Exit 2, with what to write instead."""
    answer = command(desk, *words)
    assert (answer.code, said in answer.err) == (2, True), answer.err


def test_two_of_them_are_refused(desk: Desk) -> None:
    """Which one's cycle would it be?"""
    other = desk.file("other.yaml", POLICY)
    answer = command(desk, "plan", "--policy", other)
    assert answer.code == 2
    assert "a second DeschedulerPolicy beside" in answer.err


def test_check_says_what_it_does_and_what_has_no_effect(desk: Desk) -> None:
    """Exit 0 with warnings, 2 where upstream would not start."""
    answer = desk.shell("check", str(desk.folder / "d.yaml"))
    assert answer.code == 0
    assert "evicts at most 5 in all in one cycle" in answer.out
    assert "profile p, balance: LowNodeUtilization (thresholds: {cpu: 30}" in answer.out
    assert "is no field here, and is read over" in answer.err
    assert "Binds run since version 0.1.0" in answer.out
    assert "disruption.rates.perHour: at most 20 evictions an hour" in answer.out
    own = desk.file("own.yaml", f"{OWN_HEAD}disruption: {{rates: {{perHour: 7}}}}\n")
    both = desk.shell("check", str(desk.folder / "d.yaml"), own).out
    assert both.count("Binds run since version 0.1.0") == 1
    assert "at most 20 evictions an hour" not in both
    desk.file("d.yaml", POLICY.replace("cpu: 30", "cpu: 70"))
    answer = desk.shell("check", str(desk.folder / "d.yaml"))
    assert answer.code == 2
    assert "is above targetThresholds.cpu" in answer.err


OWN_HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"
ON_CLUSTER = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig:
  - {name: HighNodeUtilization, args: {thresholds: {example.com/gpu: 20, cpu: 20}}}
  - {name: RemovePodsViolatingNodeTaints, args: {namespaces: {include: [nowhere, default]}}}
  plugins:
    deschedule: {enabled: [RemovePodsViolatingNodeTaints]}
    balance: {enabled: [HighNodeUtilization]}
"""
PACKING = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""


def test_check_on_a_cluster_says_what_comes_to_nothing_there(desk: Desk) -> None:
    """A resource that no node has, a namespace that is not there, emptying beside a scheduler that spreads."""
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("default", "a")]
    desk.record(*(node_object(name) for name in "ab"), *spaces)
    desk.file("on.yaml", ON_CLUSTER)
    desk.file("packing.yaml", PACKING)
    file, where = str(desk.folder / "on.yaml"), ("-f", str(desk.folder / "cluster.json"))
    answer = desk.shell("check", file, *where)
    assert answer.code == 0
    told = " ".join(answer.err.split())
    assert "profile p, HighNodeUtilization, thresholds.example.com/gpu: no node has it" in told
    assert "thresholds.cpu" not in told
    assert "RemovePodsViolatingNodeTaints: there is no namespace nowhere" in told
    assert "default-scheduler does not score MostAllocated" in told
    beside = desk.shell("check", file, str(desk.folder / "packing.yaml"), *where)
    assert (beside.code, "MostAllocated, so that" in beside.err) == (0, False)
    assert "warning" not in desk.shell("check", file).err


def test_check_on_a_cluster_refuses_what_descheduler_would_not_start_with_there(desk: Desk) -> None:
    """A class of priority that is not there; and no cluster is looked at where no such file is given."""
    desk.file(
        "class.yaml",
        ON_CLUSTER.replace(
            "  pluginConfig:", "  pluginConfig:\n  - {name: DefaultEvictor, args: {priorityThreshold: {name: gone}}}"
        ),
    )
    where = ("-f", str(desk.folder / "cluster.json"))
    answer = desk.shell("check", str(desk.folder / "class.yaml"), *where)
    assert answer.code == 2
    assert "there is no PriorityClass gone" in " ".join(answer.err.split())
    planned = desk.shell("plan", *where, "--policy", str(desk.folder / "class.yaml"))
    assert (planned.code, "PriorityClass gone" in " ".join(planned.err.split())) == (2, True)
    desk.file("own.yaml", HEAD)
    assert desk.shell("check", str(desk.folder / "own.yaml"), *where).code == 2


def test_policy_convert_writes_the_nearest_policy_once(desk: Desk) -> None:
    """To a new file, never over one; what is no DeschedulerPolicy is wrong use."""
    file, out = str(desk.folder / "d.yaml"), str(desk.folder / "converted.yaml")
    assert desk.shell("policy", "convert", file, "-o", out).code == 0
    assert desk.shell("check", out).code == 0
    assert "SpreadLoad" in (desk.folder / "converted.yaml").read_text()
    assert desk.shell("policy", "convert", file, "-o", out).code == 2
    answer = desk.shell("policy", "convert", out)
    assert (answer.code, "is no DeschedulerPolicy" in answer.err) == (2, True)


def test_apply_asks_on_a_live_cluster_alone(desk: Desk) -> None:
    """A recording cannot be acted on, and two sorts of moves are one too many."""
    assert command(desk, "apply", "--yes").code == 2
    answer = desk.shell("apply", "--yes", "--plan", "x.json", "--policy", str(desk.folder / "d.yaml"))
    assert (answer.code, "and so does a DeschedulerPolicy" in answer.err) == (2, True)


def test_an_interval_is_for_a_descheduler_policy(desk: Desk) -> None:
    """Without one it would mean nothing."""
    own = desk.file("own.yaml", HEAD)
    answer = desk.shell("run", "--descheduling-interval", "5m", "--policy", own)
    assert answer.code == 2
    assert "--descheduling-interval" in answer.err


def test_improve_plans_for_the_same_end_with_upstreams_figures_beside(desk: Desk) -> None:
    """A plan of our own: each move to another node, and what descheduler itself would come to."""
    own = desk.file("own.yaml", f"{HEAD}disruption: {{workloads: {{maxUnavailable: 2}}}}\n")
    answer = command(desk, "plan", "--improve", "-o", "json", "--policy", own)
    assert answer.code == 0
    plan = json.loads(answer.out)
    (objective,) = plan["objectives"]
    assert (plan["kind"], objective["name"]) == ("Plan", "LowNodeUtilization")
    assert objective["value"] == 0
    assert set(objective["upstream"]) == {"evictions", "goal", "cameBack", "waiting"}
    assert all(move["toNode"] in ("b", "c") and move["fromNode"] == "a" for move in plan["moves"])
    assert plan["moves"]


@pytest.mark.parametrize("form", ["table", "wide", "html"])
def test_each_form_tells_what_descheduler_itself_would_come_to(desk: Desk, form: str) -> None:
    """As a line below the objective."""
    answer = command(desk, "plan", "--improve", "-o", form)
    assert answer.code == 0
    assert "descheduler itself: " in answer.out
    assert "LowNodeUtilization" in answer.out


def test_improve_is_about_a_descheduler_policy(desk: Desk) -> None:
    """Without one it is wrong use, in explain too."""
    cluster = str(desk.folder / "cluster.json")
    for words in (("plan",), ("explain", "pod", "default/web-0")):
        answer = desk.shell(*words, "--improve", "-f", cluster)
        assert (answer.code, "--improve is about a DeschedulerPolicy" in answer.err) == (2, True)


def test_explain_says_what_the_improved_plan_does_with_a_pod(desk: Desk) -> None:
    """By the plan for the file's ends."""
    answer = command(desk, "explain", "pod", "default/web-0", "--improve")
    assert answer.code == 0
    assert answer.out.startswith("default/web-0: ")


MEASURED = POLICY.replace(
    "{thresholds: {cpu: 30}, targetThresholds: {cpu: 50}}",
    "{thresholds: {cpu: 30}, targetThresholds: {cpu: 50}, metricsUtilization: {source: KubernetesMetrics}}",
).replace("profiles:", "metricsProviders: [{source: KubernetesMetrics}]\nprofiles:")


def sample(kind: str, name: str, cpu: str) -> dict[str, Any]:
    """NodeMetrics, or PodMetrics of one container."""
    usage = {"cpu": cpu, "memory": "1Mi"}
    body = {"usage": usage} if kind == "NodeMetrics" else {"containers": [{"name": "main", "usage": usage}]}
    space = {} if kind == "NodeMetrics" else {"namespace": "default"}
    return {"apiVersion": "metrics.k8s.io/v1beta1", "kind": kind, "metadata": {"name": name, **space}, **body}


def test_metrics_objects_in_a_recording_are_the_samples(desk: Desk) -> None:
    """Of three cores that are requested four tenths are used: one pod leaves where more are used, none otherwise."""
    desk.file("d.yaml", MEASURED)

    def victims(cpu: str) -> int:
        nodes = [sample("NodeMetrics", name, cpu if name == "a" else "1m") for name in "abc"]
        pods = [sample("PodMetrics", f"web-{number}", "1100m") for number in range(3)]
        desk.record(*(node_object(name) for name in "abc"), *(web(number) for number in range(3)), *nodes, *pods)
        plan = json.loads(command(desk, "plan", "-o", "json").out)
        return len(plan["moves"]) + len(plan["refusals"])

    assert (victims("3300m"), victims("1")) == (2, 0)


def test_a_prometheus_answer_stands_in_for_the_server(desk: Desk) -> None:
    """``--usage`` takes it as its HTTP API gives it; a server is not asked about a recording."""
    desk.file(
        "d.yaml",
        POLICY.replace(
            "{thresholds: {cpu: 30}, targetThresholds: {cpu: 50}}",
            "{thresholds: {MetricResource: 30}, targetThresholds: {MetricResource: 50}, metricsUtilization: "
            "{source: Prometheus, prometheus: {query: q}}}",
        ).replace(
            "profiles:", "metricsProviders: [{source: Prometheus, prometheus: {url: 'http://127.0.0.1:9'}}]\nprofiles:"
        ),
    )
    rows = [
        {"metric": {"instance": name}, "value": [1, share]}
        for name, share in (("a", "0.9"), ("b", "0.1"), ("c", "0.1"))
    ]
    answer = {"status": "success", "data": {"resultType": "vector", "result": rows}}
    usage = desk.file("answer.json", json.dumps(answer))
    plan = json.loads(command(desk, "plan", "-o", "json", "--usage", usage).out)
    assert len(plan["moves"]) + len(plan["refusals"]) == 1
    without = json.loads(command(desk, "plan", "-o", "json").out)
    assert "no answer of Prometheus" in without["objectives"][0]["message"]
    answer["data"]["resultType"] = "scalar"
    usage = desk.file("answer.json", json.dumps(answer))
    scalar = json.loads(command(desk, "plan", "-o", "json", "--usage", usage).out)
    assert "wanted a vector" in scalar["objectives"][0]["message"]


OLD = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig:
  - {name: DefaultEvictor, args: {minPodAge: 30m}}
  - {name: PodLifeTime, args: {maxPodLifeTimeSeconds: 3600}}
  plugins:
    deschedule: {enabled: [PodLifeTime]}
"""


@pytest.mark.parametrize("improve", [(), ("--improve",)])
@pytest.mark.parametrize(("at", "old"), [((), 0), (("--at", "+10m"), 0), (("--at", "+61m"), 3)])
def test_pods_are_as_old_as_they_are_at_the_time_asked_for(
    desk: Desk, at: tuple[str, ...], old: int, improve: tuple[str, ...]
) -> None:
    """What a plugin or DefaultEvictor asks of ages is judged as of then, and the plan says so."""
    pods = [web(number) for number in range(3)]
    for pod in pods:
        pod["metadata"]["creationTimestamp"] = pod["status"]["startTime"] = "2027-01-15T12:00:00Z"
    marks = {"annotations": {"rescheduler.dev/takenAt": "2027-01-15T12:00:00Z"}}
    items = [*(node_object(name) for name in "abc"), *pods]
    desk.file("cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "metadata": marks, "items": items}))
    desk.file("d.yaml", OLD)
    own = desk.file("own.yaml", f"{HEAD}disruption: {{workloads: {{maxUnavailable: 3}}}}\n")
    plan = json.loads(command(desk, "plan", *at, *improve, "--policy", own, "-o", "json").out)
    assert len(plan["moves"]) == old
    assert plan["snapshot"]["takenAt"] == "2027-01-15T12:00:00Z"
    assert any("planned as if it were 2027-01-15T1" in text for text in plan["warnings"]) is bool(at)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--yes"], "--improve is about a DeschedulerPolicy"),
        (["--yes", "--policy", "d.yaml", "--objective", "MakeRoom"], "a DeschedulerPolicy brings its own plugins"),
        (["--policy", "d.yaml"], "there is no terminal to ask on"),
    ],
)
def test_what_apply_with_improve_cannot_do_is_wrong_use(desk: Desk, words: list[str], said: str) -> None:
    """Exit 2 before any cluster is asked."""
    found = [str(desk.folder / word) if word == "d.yaml" else word for word in words]
    answer = desk.shell("apply", "--improve", *found)
    assert (answer.code, said in answer.err) == (2, True), answer.err


def test_a_reviewed_plan_with_finished_pods_needs_the_file_that_chose_them(desk: Desk) -> None:
    """The form that ``plan --improve`` writes is read again; without the file nobody would evict them."""
    failed = web(7)
    failed["status"]["phase"] = "Failed"
    desk.record(*(node_object(name) for name in "abc"), failed)
    text = OLD.replace("minPodAge: 30m", "").replace("maxPodLifeTimeSeconds: 3600", "minPodLifetimeSeconds: 0")
    desk.file("d.yaml", text.replace("PodLifeTime", "RemoveFailedPods"))
    text = command(desk, "plan", "--improve", "-o", "json").out
    (move,) = json.loads(text)["moves"]
    assert (move["toNode"], move["landing"]) == (None, "NoReplacement")
    plan = desk.file("plan.json", text)
    answer = desk.shell("apply", "--yes", "--plan", plan)
    assert (answer.code, "moves[0] is a finished pod that a DeschedulerPolicy removes" in answer.err) == (2, True)
    assert desk.shell("diff", plan, plan).code == 0
    shown = command(desk, "plan", "--improve")
    assert (shown.code, "nowhere" in shown.out) == (0, True)
    assert "nobody makes it again" in command(desk, "explain", "pod", "default/web-7", "--improve").out
    assert command(desk, "plan", "--improve", "-o", "html").code == 0
