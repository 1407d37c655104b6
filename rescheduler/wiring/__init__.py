"""Puts concrete parts together for each command; the only place that names adapters, simulator and executor at once."""

from rescheduler.wiring.checking import check_files as check_files
from rescheduler.wiring.cluster_source import ClusterOptions as ClusterOptions
from rescheduler.wiring.cluster_source import clean as clean
from rescheduler.wiring.cluster_source import read_cluster as read_cluster
from rescheduler.wiring.cluster_source import record as record
from rescheduler.wiring.glance import UsageGlance as UsageGlance
from rescheduler.wiring.metrics import token_reader as token_reader
from rescheduler.wiring.planning import SimulationReport as SimulationReport
from rescheduler.wiring.planning import apply as apply
from rescheduler.wiring.planning import plan as plan
from rescheduler.wiring.planning import simulate as simulate
from rescheduler.wiring.scheduler_sources import NamedConfiguration as NamedConfiguration
from rescheduler.wiring.scheduler_sources import Predictions as Predictions
from rescheduler.wiring.scheduler_sources import predictions as predictions
from rescheduler.wiring.usage import usage_windows as usage_windows
from rescheduler.wiring.watching import UsageWatch as UsageWatch
