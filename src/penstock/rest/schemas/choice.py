"""Which schema a key or a value is to be written with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from penstock.client.registry.subjects import (
    SubjectNameStrategy,
    record_name_strategy,
    topic_name_strategy,
    topic_record_name_strategy,
)
from penstock.client.serializers.base import Field
from penstock.rest.schemas.codec import PayloadFormat

STRATEGIES: Mapping[str, SubjectNameStrategy] = {
    "TOPIC_NAME": topic_name_strategy,
    "RECORD_NAME": record_name_strategy,
    "TOPIC_RECORD_NAME": topic_record_name_strategy,
}


class SchemaChoice(NamedTuple):
    """By text (then with a format), by id, by version, or else the latest version of the subject.

    `name` is that of the field in the request that says so, for errors.
    """

    name: str
    topic: str
    field: Field
    payload_format: PayloadFormat | None = None
    """None: that of the schema in the registry."""
    schema: str | None = None
    schema_id: int | None = None
    schema_version: int | None = None
    subject: str | None = None
    subject_name_strategy: str | None = None

    @property
    def is_latest(self) -> bool:
        return self.schema is None and self.schema_id is None and self.schema_version is None

    def subject_for(self, record_name: str | None) -> str:
        """ValueError if the strategy needs a name, and there is none."""
        if self.subject is not None:
            return self.subject
        return STRATEGIES[self.subject_name_strategy or "TOPIC_NAME"](self.topic, self.field, record_name)
