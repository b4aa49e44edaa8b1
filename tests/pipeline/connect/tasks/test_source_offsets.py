"""Which offset counts as the last one of each partition of a source."""

from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.tasks.source_offsets import SourceOffsets


def record(partition: dict[str, object] | None, number: int) -> SourceRecord:
    return SourceRecord(partition, {"number": number}, "topic")


def test_one_object_for_all() -> None:
    partition: dict[str, object] = {"file": "a"}
    found = SourceOffsets.last_of([record(partition, number) for number in range(3)])
    assert found == {'{"file":"a"}': (partition, {"number": 2})}


def test_equal_partitions_that_are_not_the_same_object() -> None:
    again: dict[str, object] = {"file": "a"}
    records = [record(again, 1), record({"file": "a"}, 2), record(again, 3), record({"file": "b"}, 4)]
    found = SourceOffsets.last_of(records)
    assert {text: offset for text, (_, offset) in found.items()} == {
        '{"file":"a"}': {"number": 3},
        '{"file":"b"}': {"number": 4},
    }


def test_records_without_a_partition() -> None:
    assert SourceOffsets.last_of([record(None, 1)]) == {}
    assert SourceOffsets.last_of([]) == {}
