"""What to ask a Prometheus: for each metric the queries that are tried in turn until one covers the nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from rescheduler.adapters.metrics.prometheus.prometheus_arguments import OwnQuery, PrometheusArguments
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import CPU_PRESSURE, DISK, NETWORK
from rescheduler.policy.fields.values import format_duration

UNAME: Final = "node_uname_info"
_SECOND_WINDOW: Final = 300.0
# Devices whose traffic another device carries, too.
_INNER_DEVICES: Final = "lo|veth.*|cali.*|cni.*|lxc.*|docker.*|flannel.*|br-.*|virbr.*|tunl.*|vxlan.*|cilium.*|kube-.*"
_CONTAINER: Final = 'container!="",container!="POD",pod!=""'


class Query(NamedTuple):
    """One way to ask for one metric.

    ``times``: queries for the time of the newest raw sample behind each value; the oldest of them counts, and those
    that the source has no series for are passed over. ``share_of``: the values are cores or bytes, to be divided by
    the node's capacity of this resource.
    """

    name: str
    value: str
    times: tuple[str, ...]
    share_of: str | None = None


class _Selecting:
    """Writes series selectors, with the operator's own matchers in each."""

    def __init__(self, matchers: Mapping[str, str]) -> None:
        self._matchers = [f"{name}={quoted(value)}" for name, value in sorted(matchers.items())]

    def __call__(self, metric: str, matchers: str = "") -> str:
        inner = ",".join([*([matchers] if matchers else []), *self._matchers])
        return f"{metric}{{{inner}}}" if inner else metric


def quoted(text: str) -> str:
    """A text as a string of PromQL."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def node_queries(arguments: PrometheusArguments) -> dict[str, Sequence[Query]]:
    """By metric of nodes, the queries to try, best first."""
    own = arguments.queries
    found: dict[str, tuple[OwnQuery | None, Callable[[_Selecting, str], list[Query]]]] = {
        CPU: (own.node_cpu, _node_cpu),
        MEMORY: (own.node_memory, _node_memory),
        NETWORK: (own.node_network, _node_network),
        DISK: (own.node_disk, _node_disk),
        CPU_PRESSURE: (None, _node_cpu_pressure),
    }
    return _alternatives(arguments, found)


def pod_queries(arguments: PrometheusArguments) -> dict[str, Sequence[Query]]:
    """By metric of pods, the queries to try, best first; cpu in cores."""
    own = arguments.queries
    return _alternatives(arguments, {CPU: (own.pod_cpu, _pod_cpu), MEMORY: (own.pod_memory, _pod_memory)})


def uname_query(arguments: PrometheusArguments) -> str:
    """Which node name stands behind each instance."""
    return _Selecting(arguments.matchers)(UNAME)


def _alternatives(
    arguments: PrometheusArguments,
    wanted: Mapping[str, tuple[OwnQuery | None, Callable[[_Selecting, str], list[Query]]]],
) -> dict[str, Sequence[Query]]:
    select = _Selecting(arguments.matchers)
    windows = [format_duration(seconds) for seconds in dict.fromkeys((arguments.rate_window, _SECOND_WINDOW))]
    found: dict[str, Sequence[Query]] = {}
    for metric, (own, built) in wanted.items():
        if own is not None:
            found[metric] = (Query("own query", own.query, (own.time or f"timestamp({own.query})",)),)
        else:
            found[metric] = tuple(dict.fromkeys(query for window in windows for query in built(select, window)))
    return found


def _rule(select: _Selecting, metric: str) -> Query:
    """A recording rule: as fresh as itself and as the exporter behind it, whose rates outlive it by minutes."""
    return Query(metric, select(metric), (f"timestamp({select(metric)})", _exporter(select)))


def _exporter(select: _Selecting) -> str:
    """The time of node-exporter's newest scrape, by a metric with one series a node."""
    return f"timestamp({select('node_memory_MemTotal_bytes')})"


def _cadvisor(select: _Selecting) -> str:
    root = select("container_memory_working_set_bytes", 'id="/"')
    return f"timestamp({root})"


def _pods_by_node(select: _Selecting) -> str:
    return f"max by (node, instance) (timestamp({select('container_memory_working_set_bytes', _CONTAINER)}))"


def _node_cpu(select: _Selecting, window: str) -> list[Query]:
    idle = select("node_cpu_seconds_total", 'mode=~"idle|iowait|steal"')
    root = select("container_cpu_usage_seconds_total", 'id="/"')
    kubelet = select("node_cpu_usage_seconds_total")
    pods = select("container_cpu_usage_seconds_total", _CONTAINER)
    return [
        _rule(select, "instance:node_cpu:ratio"),
        _rule(select, "instance:node_cpu_utilisation:rate5m"),
        Query(
            "node-exporter",
            f"1 - avg without (cpu) (sum without (mode) (rate({idle}[{window}])))",
            (_exporter(select),),
        ),
        Query("cAdvisor", f"sum without (cpu) (rate({root}[{window}]))", (_cadvisor(select),), CPU),
        Query("kubelet", f"rate({kubelet}[{window}])", (f"timestamp({kubelet})",), CPU),
        Query(
            "cAdvisor's pods",
            f"sum by (node, instance) (rate({pods}[{window}]))",
            (_pods_by_node(select),),
            CPU,
        ),
    ]


def _node_memory(select: _Selecting, window: str) -> list[Query]:  # noqa: ARG001 - no rate here
    available, total = select("node_memory_MemAvailable_bytes"), select("node_memory_MemTotal_bytes")
    root = select("container_memory_working_set_bytes", 'id="/"')
    kubelet = select("node_memory_working_set_bytes")
    pods = select("container_memory_working_set_bytes", _CONTAINER)
    return [
        _rule(select, "instance:node_memory_utilisation:ratio"),
        Query("node-exporter", f"1 - {available} / {total}", (_exporter(select),)),
        Query("cAdvisor", root, (_cadvisor(select),), MEMORY),
        Query("kubelet", kubelet, (f"timestamp({kubelet})",), MEMORY),
        Query("cAdvisor's pods", f"sum by (node, instance) ({pods})", (_pods_by_node(select),), MEMORY),
    ]


def _node_network(select: _Selecting, window: str) -> list[Query]:
    rules = [
        ("instance:node_network_receive_bytes_excluding_lo:rate5m",
         "instance:node_network_transmit_bytes_excluding_lo:rate5m"),
        ("instance:node_network_receive_bytes:rate:sum", "instance:node_network_transmit_bytes:rate:sum"),
    ]  # fmt: skip
    devices = f"device!~{quoted(_INNER_DEVICES)}"
    raw = " + ".join(
        f"sum without (device) (rate({select(metric, devices)}[{window}]))"
        for metric in ("node_network_receive_bytes_total", "node_network_transmit_bytes_total")
    )
    return [
        *(
            Query(
                received, f"{select(received)} + {select(sent)}", (f"timestamp({select(received)})", _exporter(select))
            )
            for received, sent in rules
        ),
        Query("node-exporter", raw, (_exporter(select),)),
    ]


def _node_disk(select: _Selecting, window: str) -> list[Query]:
    rule, raw = select("instance_device:node_disk_io_time_seconds:rate5m"), select("node_disk_io_time_seconds_total")
    return [
        Query(
            "instance_device:node_disk_io_time_seconds:rate5m",
            f"max without (device) ({rule})",
            (f"max without (device) (timestamp({rule}))", _exporter(select)),
        ),
        Query("node-exporter", f"max without (device) (rate({raw}[{window}]))", (_exporter(select),)),
    ]


def _node_cpu_pressure(select: _Selecting, window: str) -> list[Query]:
    """Kernels without it have no such series. Containers throttled by their own limit do not count: no move helps."""
    raw = select("node_pressure_cpu_waiting_seconds_total")
    return [Query("node-exporter", f"rate({raw}[{window}])", (_exporter(select),))]


def _pod_times(select: _Selecting) -> str:
    raw = select("container_memory_working_set_bytes", _CONTAINER)
    return f"max by (namespace, pod) (timestamp({raw}))"


def _pod_cpu(select: _Selecting, window: str) -> list[Query]:
    # One series a container even where two jobs scrape the same kubelet, or a pod of this name has just moved.
    each = "sum by (namespace, pod) (max by (namespace, pod, container) ({}))"
    found = []
    for ending in ("sum_rate5m", "sum_irate"):
        rule = select(f"node_namespace_pod_container:container_cpu_usage_seconds_total:{ending}")
        times = (f"max by (namespace, pod) (timestamp({rule}))", _pod_times(select))
        found.append(Query(rule, each.format(rule), times))
    raw = select("container_cpu_usage_seconds_total", _CONTAINER)
    whole = select("container_cpu_usage_seconds_total", 'container="",pod!=""')
    kubelet = select("pod_cpu_usage_seconds_total")
    return [
        *found,
        Query("cAdvisor", each.format(f"rate({raw}[{window}])"), (_pod_times(select),)),
        Query("cAdvisor's pods", f"max by (namespace, pod) (rate({whole}[{window}]))",
              (f"max by (namespace, pod) (timestamp({whole}))",)),
        Query("kubelet", f"max by (namespace, pod) (rate({kubelet}[{window}]))",
              (f"max by (namespace, pod) (timestamp({kubelet}))",)),
    ]  # fmt: skip


def _pod_memory(select: _Selecting, window: str) -> list[Query]:  # noqa: ARG001 - no rate here
    raw = select("container_memory_working_set_bytes", _CONTAINER)
    whole = select("container_memory_working_set_bytes", 'container="",pod!=""')
    kubelet = select("pod_memory_working_set_bytes")
    return [
        Query("cAdvisor", f"sum by (namespace, pod) (max by (namespace, pod, container) ({raw}))",
              (_pod_times(select),)),
        Query("cAdvisor's pods", f"max by (namespace, pod) ({whole})",
              (f"max by (namespace, pod) (timestamp({whole}))",)),
        Query("kubelet", f"max by (namespace, pod) ({kubelet})",
              (f"max by (namespace, pod) (timestamp({kubelet}))",)),
    ]  # fmt: skip
