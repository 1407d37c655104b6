"""Schedulers' own configuration files, read as each scheduler reads them, and made into profiles to predict with."""

from rescheduler.scheduling.configuration.applied import configured_cluster as configured_cluster
from rescheduler.scheduling.configuration.profiles import scheduling_profiles as scheduling_profiles
from rescheduler.scheduling.configuration.recognise import configures_scheduler as configures_scheduler
from rescheduler.scheduling.configuration.recognise import read_config_map as read_config_map
from rescheduler.scheduling.configuration.recognise import read_configuration as read_configuration
from rescheduler.scheduling.configuration.settings import Configuration as Configuration
from rescheduler.scheduling.configuration.settings import ConfiguredProfile as ConfiguredProfile
from rescheduler.scheduling.configuration.sources import built_in as built_in
from rescheduler.scheduling.configuration.sources import combined as combined
from rescheduler.scheduling.configuration.telling import configuration_sentences as configuration_sentences
from rescheduler.scheduling.configuration.telling import resources_unknown as resources_unknown
from rescheduler.scheduling.reading.documents import ConfigurationError as ConfigurationError
