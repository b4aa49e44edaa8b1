"""RegexRouter: a new topic from the old one's name."""

from __future__ import annotations

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data.java_regex import PatternError, compile_java, expand
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import KafkaTransformation
from penstock.pipeline.connect.transforms.regex import check_regex


class RegexRouter(KafkaTransformation[Record]):
    overview = "Gives a record whose topic matches a regular expression another topic."
    config_def = (
        ConfigDef()
        .define(
            "regex",
            ConfigType.STRING,
            validator=check_regex,
            importance=Importance.HIGH,
            doc="The regular expression, in Java's syntax, that the whole topic is to match.",
        )
        .define(
            "replacement",
            ConfigType.STRING,
            importance=Importance.HIGH,
            doc="The new topic; `$1` and `${name}` stand for groups of the match.",
        )
    )

    def on_configured(self) -> None:
        self._regex = compile_java(self.settings["regex"])
        self._known: dict[str, str] = {}

    def apply(self, record: Record) -> Record | None:
        topic = self._known.get(record.topic)
        if topic is None:
            topic = self._known[record.topic] = self._routed(record.topic)
        return record if topic == record.topic else record.changed(topic=topic)

    def _routed(self, topic: str) -> str:
        """The first match is replaced, which may be shorter than the one that took all of it."""
        found = self._regex.search(topic) if self._regex.fullmatch(topic) else None
        if found is None:
            return topic
        try:
            new = expand(self.settings["replacement"], found)
        except PatternError as error:
            raise DataError(f"replacement {self.settings['replacement']!r}: {error}") from None
        return topic[: found.start()] + new + topic[found.end() :]
