"""The reference page of a program's settings, written from their table."""

from penstock.pipeline.tasks.settings import STREAMS_TABLE
from penstock.settings.reference_page import settings_table

INTRODUCTION = """\
# Settings of programs of streams

In the program's file (`Program(name, topology, {"commit.interval.ms": "50"})`), in a properties file (`--config`) or as
`--set name=value`, each over the ones before; the names are Kafka Streams'. An unknown name is refused. Other settings:

- `producer.`, `consumer.` and `admin.` go to the clients without the prefix, `security.`, `sasl.` and `ssl.` to all of
  them.
- `topic.` before any topic config goes to the topics that the program makes for itself.
- `spark.` goes to Spark.

Exception handlers are taken by the names of Kafka Streams' classes as well (`LogAndContinueExceptionHandler`).
"""


def streams_settings_page() -> str:
    return f"{INTRODUCTION}\n{settings_table(STREAMS_TABLE)}"
