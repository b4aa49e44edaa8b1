"""RecordIsTombstone: records without a value."""

from __future__ import annotations

from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.predicates.base import KafkaPredicate


class RecordIsTombstone(KafkaPredicate[Record]):
    overview = "True for tombstones: records whose value is null."

    def test(self, record: Record) -> bool:
        return record.value is None
