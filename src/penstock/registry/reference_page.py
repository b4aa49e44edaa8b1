"""The reference page of the registry's settings, written from their table."""

from penstock.registry.settings import REGISTRY_TABLE
from penstock.settings.reference_page import settings_table

INTRODUCTION = """\
# Schema Registry settings

In `schema-registry.properties`, or as `--override name=value`; the names are Confluent's. Other settings that begin
with `kafkastore.` go to the registry's Kafka clients without that prefix (`kafkastore.security.protocol`), those that
begin with `kafkastore.topic.config.` to the topic, if it has to be made. Names that have no effect are logged as such.
"""


def registry_settings_page() -> str:
    return f"{INTRODUCTION}\n{settings_table(REGISTRY_TABLE)}"
