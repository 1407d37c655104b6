"""Volcano's scheduler configuration: actions, tiers, arguments."""

from __future__ import annotations

import pytest

from rescheduler.scheduling.configuration.settings import Effect
from rescheduler.scheduling.filters.node_usage import UsageThresholds
from rescheduler.scheduling.scores.bin_packing import BinPacking
from rescheduler.scheduling.scores.node_usage import NodeUsageArguments
from tests.unit.scheduling.configuration.reading import argument, only, read, refusal, weights

HEAD = "actions: 'enqueue, allocate, backfill'\n"
METRICS = "metrics: {type: prometheus, address: http://p:9090}\n"
ALL_PREDICATES = (
    "SchedulingGates", "NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts",
    "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit",
)  # fmt: skip


def volcano(*plugins: str, head: str = HEAD) -> str:
    """One tier of plugins, each written as a flow map."""
    return head + "tiers:\n- plugins:\n" + "".join(f"  - {plugin}\n" for plugin in plugins) + METRICS


def test_name_of_the_scheduler() -> None:
    """The file names none: it is the one given, or Volcano's own default."""
    text = volcano("{name: predicates}")
    assert list(read(text).profiles) == ["volcano"]
    assert list(read(text, "batch").profiles) == ["batch"]


def test_predicates() -> None:
    """All predicates are on unless an argument switches one off."""
    assert only(volcano("{name: predicates}")).filters == ALL_PREDICATES
    text = volcano("{name: predicates, arguments: {predicate.TaintTolerationEnable: false}}")
    assert only(text).filters == tuple(name for name in ALL_PREDICATES if name != "TaintToleration")


@pytest.mark.parametrize("plugins", [["{name: gang}"], ["{name: predicates, enablePredicate: false}"]])
def test_without_predicates(plugins: list[str]) -> None:
    """Room, names and gates are what Volcano checks by itself."""
    assert only(volcano(*plugins)).filters == ("SchedulingGates", "NodeName", "NodeResourcesFit")


def test_node_order() -> None:
    """Weights have defaults of their own; 0 switches a score off."""
    assert weights(only(volcano("{name: nodeorder}"))) == {
        "leastrequested": 1, "NodeAffinity": 2, "InterPodAffinity": 2, "NodeResourcesBalancedAllocation": 1,
        "TaintToleration": 3, "ImageLocality": 1, "PodTopologySpread": 2,
    }  # fmt: skip
    text = volcano("{name: nodeorder, arguments: {leastrequested.weight: 0, mostrequested.weight: 5}}")
    found = weights(only(text))
    assert found["mostrequested"] == 5
    assert "leastrequested" not in found
    assert weights(only(volcano("{name: nodeorder, enableNodeOrder: false}"))) == {}


def test_bin_packing() -> None:
    """Listed resources are weighed by their own arguments; a negative weight becomes 1."""
    text = volcano(
        "{name: binpack, arguments: {binpack.weight: 10, binpack.cpu: 5, binpack.memory: -1,"
        " binpack.resources: 'nvidia.com/gpu, a.b/c', binpack.resources.nvidia.com/gpu: 2}}"
    )
    profile = only(text)
    assert weights(profile) == {"binpack": 10}
    wanted = BinPacking((("cpu", 5), ("memory", 1), ("nvidia.com/gpu", 2), ("a.b/c", 1)))
    assert argument(profile, "binpack") == wanted
    assert any("found -1; Volcano goes by its default, 1" in warning for warning in read(text).warnings)
    assert profile.weighed_resources == {"binpack": ("cpu", "memory", "nvidia.com/gpu", "a.b/c")}


def test_a_resource_that_is_not_listed() -> None:
    """Volcano reads the weight of a resource only if the resource is listed."""
    (warning,) = read(volcano("{name: binpack, arguments: {binpack.resources.a.b/c: 2}}")).warnings
    assert warning.endswith("list the resource under binpack.resources")


def usage(arguments: str, switches: str = "") -> str:
    """The usage plugin with these arguments."""
    return volcano(f"{{name: usage, {switches} arguments: {arguments}}}")


def test_usage() -> None:
    """Weights, thresholds and estimator arrive, for the window of ten minutes that Volcano's code reads."""
    text = usage(
        "{usage.weight: 7, cpu.weight: 2, memory.weight: 3, thresholds: {cpu: 60, mem: 70},"
        " estimator: {request_ratio: 0.5, be_cpu: 100, be_mem: 1Gi}}"
    )
    profile = only(text)
    assert profile.usage_threshold == UsageThresholds(cpu=60.0, memory=70.0, period=600.0)
    assert weights(profile) == {"usage": 7}
    found = argument(profile, "usage")
    assert isinstance(found, NodeUsageArguments)
    assert (found.cpu_weight, found.memory_weight, found.interval) == (2.0, 3.0, 30.0)
    assert (found.estimator.request_ratio, found.estimator.best_effort_cpu) == (0.5, "100m")
    assert found.estimator.best_effort_memory == "1Gi"
    assert found.upstream_compatible
    assert not read(text).warnings


def test_usage_that_only_scores() -> None:
    """``enablePredicate: false`` leaves the score and takes the thresholds away."""
    profile = only(usage("{thresholds: {cpu: 60, mem: 70}}", "enablePredicate: false,"))
    assert profile.usage_threshold is None
    assert weights(profile) == {"usage": 5}


def test_no_thresholds() -> None:
    """Volcano filters at 80 all the same, which its design denies."""
    text = usage("{}")
    assert only(text).usage_threshold == UsageThresholds(cpu=80.0, memory=80.0, period=600.0)
    assert any("Volcano filters at cpu 80 and mem 80 all the same" in warning for warning in read(text).warnings)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{usage.weight: -1, thresholds: {}}", "found -1; Volcano goes by its default, 5"),
        ("{usage.weight: '7', thresholds: {}}", "found '7'; wanted a whole number; Volcano keeps 5"),
        ("{thresholds: {cpu: 101}}", "found 101, not within 0 to 100; Volcano goes by its default, 80"),
        ("{thresholds: {cpu: '60'}}", "found '60'; wanted a whole number; Volcano keeps 80"),
        ("{thresholds: {memory: 60}}", "a field that Volcano does not read; did you mean mem?"),
        ("{thresholds: 60}", "found 60; wanted a map; Volcano keeps its default"),
        ("{thresholds: {}, estimator: {request_ratio: 2}}", "found 2, not within 0 to 1; Volcano goes by its default"),
        ("{thresholds: {}, estimator: {risk_factor: 0.5}}", "found 0.5, not 1 or more; Volcano goes by its default"),
        ("{thresholds: {}, estimator: {be_cpu: lots}}", "Volcano goes by its default, 250m"),
        ("{thresholds: {}, estimator: {be_mem: true}}", "Volcano goes by its default, 200Mi"),
        ("{thresholds: {}, estimator: {request_ratio: .nan}}", "found nan; wanted a number; Volcano keeps"),
        ("{thresholds: {}, usage.wieght: 3}", "did you mean usage.weight?"),
    ],
)
def test_values_that_volcano_corrects(arguments: str, said: str) -> None:
    """What Volcano corrects or ignores is one warning, and the rest is read."""
    configuration = read(usage(arguments))
    assert weights(configuration.profiles["volcano"]) == {"usage": 5}
    assert sum(said in warning for warning in configuration.warnings) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (volcano("{name: usage, enablePredicate: 'false'}"), "found 'false'; wanted true or false, without quotes"),
        (volcano(head="actions: allocate, bakfill\n"), "did you mean backfill?; Volcano rejects the whole file"),
        (volcano(head="actions: ''\n"), 'found ""'),
        (volcano(head="actions: [allocate]\n"), "found a list; wanted a text"),
        (volcano("{name: drf, enableHierarchy: true}", "{name: proportion}"), "exclude each other"),
        (HEAD + "tiers: {}\n", "found a map; wanted a list"),
        (HEAD + "tiers: [x]\n", "found 'x'; wanted a map"),
    ],
)
def test_what_volcano_rejects(text: str, said: str) -> None:
    """What makes Volcano reject the whole file is an error."""
    assert said in refusal(text)


@pytest.mark.parametrize(
    ("plugin", "effect"),
    [
        ("priority", Effect.HARMLESS),
        ("gang", Effect.ESTIMATE),
        ("proportion", Effect.ESTIMATE),
        ("nodegroup", Effect.UNKNOWN),
        ("mine", Effect.UNKNOWN),
    ],
)
def test_plugins_that_are_not_modelled(plugin: str, effect: Effect) -> None:
    """Each other plugin is listed with what it means; one that is not known may filter."""
    (note,) = only(volcano(f"{{name: {plugin}}}")).not_modelled
    assert (note.name, note.effect) == (plugin, effect)


def test_shared_devices() -> None:
    """deviceshare concerns pods that ask for shared devices only."""
    (note,) = only(volcano("{name: deviceshare}")).not_modelled
    assert "volcano.sh/vgpu-number" in note.resources


def test_predicates_that_keep_resources_back() -> None:
    """The proportional predicate is not modelled, so feasibility is unknown."""
    (note,) = only(volcano("{name: predicates, arguments: {predicate.ProportionalEnable: true}}")).not_modelled
    assert (note.name, note.effect) == ("predicate.ProportionalEnable", Effect.UNKNOWN)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (volcano("{name: nodordr}"), "did you mean nodeorder?"),
        (volcano("{name: gang}", "{name: gang}"), '"gang" is listed twice'),
        (volcano("{name: gang, argument: {}}"), "did you mean arguments?"),
        (volcano("{name: gang}", head="actions: enqueue\n"), "neither allocate nor backfill: Volcano places no pod"),
        (volcano("{name: gang}", head="actions: 'allocate, preempt'\n"), "preempt: Volcano evicts pods by itself"),
        (volcano("{name: nodeorder, arguments: {nodeaffinity.weight: -1}}"), "prefers the nodes that score lowest"),
        (volcano("{name: gang}") + "tier: []\n", "a field that Volcano does not read"),
        (HEAD + "tiers:\n- plugins: [{name: usage, arguments: {thresholds: {}}}]\n", "usage without a metrics source"),
        (HEAD + HEAD, "the same field twice, at lines 1 and 2; Volcano goes by the last"),
    ],
)
def test_what_volcano_ignores(text: str, said: str) -> None:
    """What Volcano ignores or silently does is one warning that names it."""
    (warning,) = read(text).warnings
    assert said in warning


PLUGINS = "actions: allocate\ntiers: [{plugins: [{name: usage, arguments: {thresholds: {cpu: 50}}}]}]\n"


def metrics(lines: str) -> str:
    """A configuration with this metrics block."""
    return PLUGINS + "metrics:\n" + "".join(f"  {line}\n" for line in lines.splitlines())


def warnings(lines: str) -> str:
    """All warnings about a metrics block."""
    return "\n".join(read(metrics(lines)).warnings)


def test_the_flat_form_of_the_code() -> None:
    """It is read without a word; the interval tells how late metrics are."""
    text = metrics(
        "type: elasticsearch\naddress: http://e:9200\ninterval: 60s\ntls.insecureSkipVerify: 'true'\n"
        "elasticsearch.index: x\nelasticsearch.username: u\nelasticsearch.password: p\n"
        "elasticsearch.hostnameFieldName: host.name"
    )
    profile = only(text)
    assert profile.load_source == "elasticsearch at http://e:9200"
    found = argument(profile, "usage")
    assert isinstance(found, NodeUsageArguments)
    assert found.interval == 60.0
    assert not read(text).warnings


def test_the_nested_form_of_the_design() -> None:
    """It is read alike; Volcano's own code would reject the whole file over it."""
    lines = "type: elasticsearch\naddress: http://e:9200\ntls: {insecureSkipVerify: 'true'}\nelasticsearch: {index: x}"
    assert only(metrics(lines)).load_source == "elasticsearch at http://e:9200"
    assert warnings(lines).count("rejects the whole file over a map") == 2


@pytest.mark.parametrize(
    ("lines", "said", "source"),
    [
        ("type: prometheus_adapt", "read as prometheus_adaptor", "prometheus_adaptor"),
        ("address: http://p", "its design says prometheus, but Volcano's code then collects", "prometheus at http://p"),
        ("type: prometeus\naddress: http://p", "did you mean prometheus?", ""),
        ("type: prometheus", "address is missing; prometheus needs one", "prometheus"),
        (
            "type: prometheus\naddress: http://p\nbasicauth: 'true'",
            "Volcano never reads this",
            "prometheus at http://p",
        ),
        ("type: prometheus\naddress: http://p\ntls.insecure: 'true'", "did you mean tls.ins", "prometheus at http://p"),
        ("type: prometheus\naddress: http://u:s@p\ninterval: 0s", 'found "0s", no duration', "prometheus at http://p"),
        ("type: prometheus\naddress: http://p\ninterval: soon", 'found "soon", no duration', "prometheus at http://p"),
        ("type: prometheus\naddress: http://p\ninterval: -5s", 'found "-5s", no duration', "prometheus at http://p"),
    ],
)
def test_what_volcano_makes_of_it(lines: str, said: str, source: str) -> None:
    """What Volcano ignores, corrects or spells otherwise is a warning; credentials are never repeated."""
    assert said in warnings(lines)
    assert only(metrics(lines)).load_source == source


def test_a_value_that_is_no_text() -> None:
    """A list or an unknown map makes Volcano reject the file; a number is read as a text."""
    assert "Volcano rejects the whole file" in refusal(metrics("type: [prometheus]"))
    assert "Volcano rejects the whole file" in refusal(metrics("type: prometheus\nbasic: {user: x}"))
    assert "prometheus_adaptor" in only(metrics("type: prometheus_adaptor\ninterval: 30")).load_source


def test_secrets_are_never_told() -> None:
    """Neither warnings nor the profile repeat a password."""
    lines = "type: prometheus\naddress: http://me:hush@p\nusername: me\npassword: hush\nelasticsearch: {password: hush}"
    configuration = read(metrics(lines))
    assert "hush" not in "\n".join(configuration.warnings)
    assert "hush" not in repr(configuration.profiles)
