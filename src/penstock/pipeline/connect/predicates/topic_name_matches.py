"""TopicNameMatches: records of topics that match a regular expression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, not_empty
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data.java_regex import compile_java
from penstock.pipeline.connect.predicates.base import KafkaPredicate
from penstock.pipeline.connect.transforms.regex import check_regex


def _check_pattern(name: str, value: Any) -> None:
    not_empty(name, value)
    check_regex(name, value)


class TopicNameMatches(KafkaPredicate[Record]):
    overview = "True for records whose topic matches a regular expression."
    config_def = ConfigDef().define(
        "pattern",
        ConfigType.STRING,
        validator=_check_pattern,
        importance=Importance.MEDIUM,
        doc="The regular expression, in Java's syntax, that the whole topic is to match.",
    )

    def configure(self, configs: Mapping[str, Any]) -> None:
        super().configure(configs)
        self._pattern = compile_java(self.settings["pattern"])

    def test(self, record: Record) -> bool:
        return self._pattern.fullmatch(record.topic) is not None
