"""TimestampRouter: a new topic from the old one and the record's timestamp."""

from __future__ import annotations

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data.simple_date_format import PatternError, SimpleDateFormat
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import KafkaTransformation


class TimestampRouter(KafkaTransformation[Record]):
    overview = "Gives a record a topic made of its topic and its timestamp."
    config_def = (
        ConfigDef()
        .define(
            "topic.format",
            ConfigType.STRING,
            "${topic}-${timestamp}",
            importance=Importance.HIGH,
            doc="The new topic, with `${topic}` and `${timestamp}` in the places of the two.",
        )
        .define(
            "timestamp.format",
            ConfigType.STRING,
            "yyyyMMdd",
            importance=Importance.HIGH,
            doc="The pattern of Java's SimpleDateFormat that the timestamp is written with, in UTC.",
        )
    )

    def on_configured(self) -> None:
        pattern = self.settings["timestamp.format"]
        try:
            self._format = SimpleDateFormat(pattern)
        except PatternError as error:
            raise ConfigError(f"timestamp.format: got {pattern!r}; {error}") from None

    def apply(self, record: Record) -> Record | None:
        if record.timestamp is None:
            raise DataError(f"Timestamp missing on record: {record}")
        topic = self.settings["topic.format"].replace("${topic}", record.topic)
        return record.changed(topic=topic.replace("${timestamp}", self._format.format(record.timestamp)))
