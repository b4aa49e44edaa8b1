"""A source connector: this machine's load, every so often, as a record.

    plugin.path=examples           in worker.properties
    {"connector.class": "LoadSource", "topic": "load", "interval.ms": "1000"}

A task is started, polled for some seconds and stopped, again and again: what it needs to go on is in the offset of its
last record, which is stored in Kafka in one transaction with the record.
"""

import os
import time

from penstock.pipeline.connect.api import ConfigDef, SourceConnector, SourceTask
from penstock.pipeline.connect.api.config_def import ConfigType, at_least
from penstock.pipeline.connect.data import SchemaBuilder, SourceRecord, Struct
from penstock.pipeline.connect.data.schema import FLOAT64, INT64

LOAD = SchemaBuilder.struct().name("load").field("number", INT64).field("one_minute", FLOAT64).build()
THIS_MACHINE = {"machine": os.uname().nodename}


class LoadTask(SourceTask):
    def start(self, configs):
        self.settings = LoadSource.config_def.parse(configs)
        self.last = self.context.offsets.offset(THIS_MACHINE) or {"number": 0, "at_ms": 0}

    def poll(self):
        now_ms = int(time.time() * 1000)
        if now_ms < self.last["at_ms"] + self.settings["interval.ms"]:
            time.sleep(0.05)  # a poll may wait a little, never long
            return None
        self.last = {"number": self.last["number"] + 1, "at_ms": now_ms}
        value = Struct(LOAD, number=self.last["number"], one_minute=os.getloadavg()[0])
        return [SourceRecord(THIS_MACHINE, self.last, self.settings["topic"], value, LOAD, timestamp=now_ms)]


class LoadSource(SourceConnector):
    """One task, with all of the configuration: that is what `task_configs` says unless it is overridden."""

    task_class = LoadTask
    config_def = (
        ConfigDef()
        .define("topic", ConfigType.STRING, doc="Where the records go.")
        .define("interval.ms", ConfigType.LONG, 1000, validator=at_least(1), doc="How often to look.")
    )
