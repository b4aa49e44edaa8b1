"""Filter: drops every record that it sees; a predicate says which it sees."""

from __future__ import annotations

from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.transforms.base import KafkaTransformation


class Filter(KafkaTransformation[Record]):
    overview = "Drops every record; with a predicate, those that it chooses."

    def apply(self, record: Record) -> Record | None:
        return None
