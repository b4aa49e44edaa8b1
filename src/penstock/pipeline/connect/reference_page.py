"""The reference page of a Connect worker's settings, written from their table."""

from penstock.pipeline.connect.settings import CONNECT_TABLE
from penstock.settings.reference_page import settings_table

INTRODUCTION = """\
# Connect worker settings

In `connect-distributed.properties` or `connect-standalone.properties`, or as `--override name=value`; the names are
Kafka Connect's. Other settings:

- `producer.`, `consumer.` and `admin.` go to the clients of connectors' tasks without the prefix, `security.protocol`,
  `sasl.` and `ssl.` to all clients.
- `key.converter.`, `value.converter.` and `header.converter.` go to the converters.
- `config.storage.`, `offset.storage.` and `status.storage.` before any topic config go to those topics, if they have
  to be made.
- `spark.` goes to Spark.
- `config.providers.<name>.class` is one of Kafka's `FileConfigProvider`, `DirectoryConfigProvider` and
  `EnvVarConfigProvider`, `config.providers.<name>.param.` what it takes.

`task.restart.max.retries`, `task.restart.backoff.ms` and `task.restart.backoff.max.ms` can be set for a connector as
well, in its own configuration. Names that have no effect are logged as such.

A **standalone** worker takes `offset.storage.file.filename` as Kafka's does, but writes no file: source offsets have to
be in Kafka to be committed with the records, in one transaction. They are in a topic that is named after the file
(`connect-standalone-tmp-connect.offsets-offsets` for `/tmp/connect.offsets`), beside those of its configurations and
states. `offset.storage.topic` and the like name them otherwise.
"""


def connect_settings_page() -> str:
    return f"{INTRODUCTION}\n{settings_table(CONNECT_TABLE)}"
