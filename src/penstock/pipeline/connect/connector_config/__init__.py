"""The configuration that every connector has beside its own, and what is wrong with one."""

from penstock.pipeline.connect.connector_config.checking import ConfigCheck
from penstock.pipeline.connect.connector_config.common import SINK_KEYS, SOURCE_KEYS, common_keys

__all__ = ["SINK_KEYS", "SOURCE_KEYS", "ConfigCheck", "common_keys"]
