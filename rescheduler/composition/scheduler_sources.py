"""What predictions need besides the snapshot: the schedulers' configuration, from where the policy says, and load."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.scheduler_file import UnreadableFileError, read_text
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.load.recorded_load import PolicyLoad, RecordedLoad
from rescheduler.extension_points import Progress, SnapshotError, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.schedulers import SchedulerSource
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem, named
from rescheduler.scheduling.configuration import Configuration, built_in, combined, read_config_map, read_configuration
from rescheduler.scheduling.schedulers import MeasuredLoad, Schedulers


class NamedConfiguration(NamedTuple):
    """A configuration, and where it was read."""

    where: str
    read: Configuration


@dataclass(frozen=True)
class Predictions:
    """Everything that predictions of a policy need but the snapshot; read before it, so that faults show at once.

    ``files``: one configuration for each entry of the policy's ``schedulers``, None for a ConfigMap's.
    """

    policy: Policy
    files: tuple[Configuration | None, ...]
    load: MeasuredLoad

    @property
    def config_maps(self) -> tuple[str, ...]:
        """ConfigMaps that are needed, by ``NAMESPACE/NAME``."""
        return tuple(source.config_map for source in self.policy.schedulers if source.config_map is not None)

    def schedulers(self, cluster: Cluster) -> Schedulers:
        """The schedulers of the cluster that a snapshot is of.

        Raises ConfigurationError, and SnapshotError for a ConfigMap that the snapshot does not hold.
        """
        read = [
            NamedConfiguration(_where(source), found or _from_config_map(source, cluster))
            for source, found in zip(self.policy.schedulers, self.files, strict=True)
        ]
        return Schedulers(combined(read), self.load)


def predictions(
    policy: Policy,
    policy_files: Sequence[str] = (),
    usage_file: str | None = None,
    progress: Progress = no_progress,
    options: ClusterOptions | None = None,
) -> Predictions:
    """Read the files that a policy names, and a recording of load, which stands in for the policy's providers.

    ``policy_files`` are named in messages; ``options``: the cluster that providers tell of. Raises PolicyError,
    ConfigurationError, and SnapshotError for the recording.
    """
    load: MeasuredLoad = PolicyLoad(policy)
    if usage_file is not None:
        from rescheduler.adapters.files.load_recording import read_load_recording

        load = RecordedLoad(policy, read_load_recording(usage_file, progress), printable(usage_file))
    elif policy.usage.providers:
        from rescheduler.composition.load.provider_load import ProviderLoad, recorded_answer

        where = options or ClusterOptions()
        with named(policy_files):
            asked = ProviderLoad(policy, where, SystemClock(), progress)
        load = recorded_answer(policy, where) or asked
    return predictions_by(load, policy, policy_files)


def predictions_by(load: MeasuredLoad, policy: Policy, policy_files: Sequence[str] = ()) -> Predictions:
    """The same by load that somebody else measures. Raises PolicyError, ConfigurationError."""
    return Predictions(policy, tuple(_read_files(policy, policy_files)), load)


def named_configurations(policy: Policy, policy_files: Sequence[str]) -> list[NamedConfiguration]:
    """What a policy says about schedulers without a look at a cluster. Raises PolicyError, ConfigurationError."""
    found = zip(policy.schedulers, _read_files(policy, policy_files), strict=True)
    return [NamedConfiguration(_where(source), read) for source, read in found if read is not None]


def _read_files(policy: Policy, policy_files: Sequence[str]) -> Iterator[Configuration | None]:
    for number, source in enumerate(policy.schedulers):
        if source.file is not None:
            try:
                text = read_text(source.file)
            except UnreadableFileError as error:
                field, what = f"schedulers[{number}].file", f"{printable(source.file)} {error}"
                raise PolicyError([ReadingProblem(", ".join(policy_files), 0, 0, field, what)]) from None
            yield read_configuration(text, printable(source.file), scheduler_name=source.scheduler_name)
        elif source.config_map is not None:
            yield None
        else:
            assert source.scheduler_name is not None  # the policy's own rule
            yield built_in(source.scheduler_name)


def _from_config_map(source: SchedulerSource, cluster: Cluster) -> Configuration:
    key = source.config_map
    assert key is not None
    entries: Mapping[str, str] | None = cluster.config_maps.get(key)
    if entries is None:
        held = f"; it holds {', '.join(sorted(cluster.config_maps))}" if cluster.config_maps else ""
        raise SnapshotError(
            f"{cluster.source}: holds no ConfigMap {key}, which the policy names under schedulers{held}; a recording "
            f"can be given it with: kubectl get configmap -n {key.partition('/')[0]} {key.partition('/')[2]} -o yaml"
        )
    return read_config_map(entries, f"configMap {key}", scheduler_name=source.scheduler_name)


def _where(source: SchedulerSource) -> str:
    if source.file is not None:
        return printable(source.file)
    return f"configMap {source.config_map}" if source.config_map is not None else "the policy (schedulerName)"
