"""A sink connector: records as rows of a SQLite table.

    plugin.path=examples           in worker.properties
    {"connector.class": "RowsSink", "topics": "load", "database": "rows.db",
     "value.converter": "org.apache.kafka.connect.storage.StringConverter"}

Kafka's offsets are committed after `flush`. Whoever is killed before that is given the same records again, so a row is
named by where its record lies in Kafka, and writing it twice changes nothing: each record is there exactly once.
"""

import sqlite3

from penstock.pipeline.connect.api import ConfigDef, RetriableConnectError, SinkConnector, SinkTask
from penstock.pipeline.connect.api.config_def import ConfigType

TABLE = "CREATE TABLE IF NOT EXISTS rows (topic, part, number, value, PRIMARY KEY (topic, part, number))"


class RowsTask(SinkTask):
    def start(self, configs):
        self.database = sqlite3.connect(configs["database"], timeout=1.0)
        self.database.execute(TABLE)

    def put(self, records):
        rows = [(each.original_topic, each.original_partition, each.offset, each.value) for each in records]
        try:
            self.database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", rows)
        except sqlite3.OperationalError as error:  # locked by somebody: the same records are put again
            raise RetriableConnectError(f"database: {error}") from error

    def flush(self, offsets):
        self.database.commit()

    def stop(self):
        self.database.close()


class RowsSink(SinkConnector):
    task_class = RowsTask
    config_def = ConfigDef().define("database", ConfigType.STRING, doc="The file of the database.")

    def task_configs(self, max_tasks):
        return [dict(self.configs) for _ in range(max_tasks)]
